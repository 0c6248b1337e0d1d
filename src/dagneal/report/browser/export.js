// Save the complete drawing as SVG or PNG. Styles become attributes, so that the file needs no style sheet.
const COPIED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
  "font-size", "font-family", "font-weight", "text-anchor", "paint-order"];
const KEPT_ATTRIBUTES = new Set(["d", "x", "y", "width", "height", "rx", "dy", "transform", ...COPIED]);
const RESOLUTION = 2, LARGEST_IMAGE = 8192; // pixels for each unit of the drawing, and of the longer side of the image
const NOT_IN_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

// Copy the drawing without what is hidden or only serves the page.
function copyDrawing(svg, home) {
  const copy = (element) => {
    const style = getComputedStyle(element);
    if (style.display === "none" || style.visibility === "hidden" || element.matches(".hit")) return null;
    const twin = element.cloneNode(false);
    for (const { name } of [...twin.attributes]) if (!KEPT_ATTRIBUTES.has(name)) twin.removeAttribute(name);
    if (element.matches("path, rect, text")) for (const name of COPIED) twin.setAttribute(name, style.getPropertyValue(name));
    for (const child of element.childNodes) {
      const other = child.nodeType === Node.TEXT_NODE
        ? document.createTextNode(child.textContent.replace(NOT_IN_XML, "\ufffd")) : child.nodeType === Node.ELEMENT_NODE && copy(child);
      if (other) twin.append(other);
    }
    return twin;
  };
  const drawing = copy(svg), back = document.createElementNS(svg.namespaceURI, "rect");
  const area = { x: home.x, y: home.y, width: home.w, height: home.h };
  for (const [name, value] of Object.entries({ ...area, fill: getComputedStyle(svg).backgroundColor })) back.setAttribute(name, value);
  drawing.prepend(back);
  for (const name of ["x", "y"]) drawing.removeAttribute(name);
  drawing.setAttribute("viewBox", `${home.x} ${home.y} ${home.w} ${home.h}`);
  drawing.setAttribute("width", home.w);
  drawing.setAttribute("height", home.h);
  return drawing;
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

function startExport(drawing, announce) {
  const source = () => new Blob([new XMLSerializer().serializeToString(copyDrawing(drawing.svg, drawing.extent()))],
    { type: "image/svg+xml" });
  byId("save-svg").onclick = () => { download(source(), "network.svg"); announce("Saved network.svg."); };
  byId("save-png").onclick = () => {
    const { w, h } = drawing.extent(), factor = Math.min(RESOLUTION, LARGEST_IMAGE / Math.max(w, h));
    const image = new Image(), address = URL.createObjectURL(source());
    const failed = () => announce("The browser could not draw the image; save it as SVG.");
    image.onload = () => {
      const canvas = make("canvas", { width: Math.round(w * factor), height: Math.round(h * factor) });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(address);
      canvas.toBlob((blob) => { if (blob) { download(blob, "network.png"); announce("Saved network.png."); } else failed(); });
    };
    image.onerror = failed;
    image.src = address;
  };
}
