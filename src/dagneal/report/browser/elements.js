// Elements and texts. Names and states are always set as text, never as HTML.
const byId = (id) => document.getElementById(id);

// Make an element with attributes, listeners (`onclick`) and children. A child that is a string becomes text.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

const LONGEST = 60; // characters of a name in a sentence
const shorten = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 20)}…${text.slice(-19)}` : text);
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// A probability in percent. Values that are not 0 or 1 never look like 0% or 100%.
function percent(value) {
  if (value === 0) return "0%";
  if (value === 1) return "100%";
  if (value < 0.0005) return "<0.1%";
  if (value > 0.9995) return ">99.9%";
  return `${(100 * value).toFixed(1)}%`;
}

// A probability with four digits, from its natural logarithm. It may be far below the smallest double.
function fromLog(log) {
  if (log > Math.log(1e-3)) return Number(Math.exp(Math.min(log, 0)).toPrecision(4)).toString();
  const power = log / Math.LN10, exponent = Math.floor(power);
  return `${(10 ** (power - exponent)).toFixed(3)} × 10^${exponent}`.replace("-", "−");
}
