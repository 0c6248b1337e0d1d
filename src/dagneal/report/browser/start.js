// Start all parts of the page.
startTables();
const network = readNetwork();
const announce = (text) => { byId("announcement").textContent = text; };
const drawing = startDrawing(network);
let panel = null;
const follow = startExploring(network, drawing, (variable) => panel.choose(variable), announce);
panel = startPanel(network, drawing, announce, follow);
drawing.onChoice(panel.choose);
startExport(drawing, announce);
for (const element of document.querySelectorAll(".needs-script")) element.classList.remove("needs-script");
