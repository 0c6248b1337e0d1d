// Lays out graphs with JavaScript tools. Reads JSON from standard input and writes JSON to standard output.
//
// Input: {graphs: [{nodes: [{name, w, h}], edges: [[parent, child]]}], gap, row, repeats}. `gap` is the distance between
// nodes of a layer, `row` the distance between layers, and `repeats` the number of timed calls after the first one.
// Output: for each tool and graph {place: [[x, y]], curves: [[[x, y]]], kind, first, median}. `kind` says what the points of
// a curve are: "polyline", or "bezier" (a start and three points for each cubic piece). Times are milliseconds of CPU.

import { readFileSync } from "node:fs";
import dagre from "@dagrejs/dagre";
import { Graphviz } from "@hpcc-js/wasm-graphviz";
import * as d3dag from "d3-dag";
import ELK from "elkjs/lib/elk.bundled.js";

const { graphs, gap, row, repeats } = JSON.parse(readFileSync(0, "utf8"));

function layOutDagre(graph) {
  const g = new dagre.graphlib.Graph();
  g.setGraph({ nodesep: gap, edgesep: gap / 2, ranksep: row, marginx: 0, marginy: 0 });
  g.setDefaultEdgeLabel(() => ({}));
  graph.nodes.forEach((n, i) => g.setNode(String(i), { width: n.w, height: n.h }));
  graph.edges.forEach(([a, b]) => g.setEdge(String(a), String(b)));
  dagre.layout(g);
  return {
    place: graph.nodes.map((_, i) => [g.node(String(i)).x, g.node(String(i)).y]),
    curves: graph.edges.map(([a, b]) => g.edge(String(a), String(b)).points.map((p) => [p.x, p.y])),
    kind: "polyline",
  };
}

function layOutD3Dag(graph) {
  const parents = graph.nodes.map(() => []);
  graph.edges.forEach(([a, b]) => parents[b].push(String(a)));
  const dag = d3dag.graphStratify()(graph.nodes.map((n, i) => ({ id: String(i), parentIds: parents[i], w: n.w, h: n.h })));
  d3dag.sugiyama().nodeSize((n) => [n.data.w, n.data.h]).gap([gap, row])(dag);
  const place = [], curves = new Map();
  for (const node of dag.nodes()) place[Number(node.data.id)] = [node.x, node.y];
  for (const link of dag.links()) curves.set(`${link.source.data.id} ${link.target.data.id}`, link.points);
  return { place, curves: graph.edges.map(([a, b]) => curves.get(`${a} ${b}`)), kind: "polyline" };
}

function dot(graph) {
  const nodes = graph.nodes.map((n, i) => `${i} [width=${n.w / 72}, height=${n.h / 72}]`);
  const edges = graph.edges.map(([a, b], i) => `${a} -> ${b} [id=${i}]`);
  const options = `graph [nodesep=${gap / 72}, ranksep=${row / 72}]; node [shape=box, fixedsize=true, label=""]; edge [arrowhead=none];`;
  return `digraph { ${options} ${[...nodes, ...edges].join("; ")} }`;
}

function readGraphviz(graph, result) {
  const place = [], curves = [];
  const point = (text) => { const [x, y] = text.split(",").map(Number); return [x, -y]; };
  for (const node of result.objects) place[Number(node.name)] = point(node.pos);
  for (const edge of result.edges) curves[Number(edge.id)] = edge.pos.split(" ").filter((text) => /^-?[0-9.]/.test(text)).map(point);
  return { place, curves, kind: "bezier" };
}

const elk = new ELK();

async function layOutElk(graph, routing) {
  const result = await elk.layout({
    id: "graph",
    layoutOptions: {
      "elk.algorithm": "layered", "elk.direction": "DOWN", "elk.edgeRouting": routing, "elk.padding": "[left=0,top=0,right=0,bottom=0]",
      "elk.spacing.nodeNode": String(gap), "elk.layered.spacing.nodeNodeBetweenLayers": String(row),
      "elk.spacing.edgeNode": String(gap / 2), "elk.spacing.edgeEdge": String(gap / 2), "elk.spacing.componentComponent": String(2 * gap),
    },
    children: graph.nodes.map((n, i) => ({ id: String(i), width: n.w, height: n.h })),
    edges: graph.edges.map(([a, b], i) => ({ id: `e${i}`, sources: [String(a)], targets: [String(b)] })),
  });
  const place = [], curves = [];
  for (const n of result.children) place[Number(n.id)] = [n.x + n.width / 2, n.y + n.height / 2];
  for (const edge of result.edges) {
    const { startPoint, bendPoints = [], endPoint } = edge.sections[0];
    curves[Number(edge.id.slice(1))] = [startPoint, ...bendPoints, endPoint].map((p) => [p.x, p.y]);
  }
  return { place, curves, kind: "polyline" };
}

const graphviz = await Graphviz.load();
const tools = {
  "dagre": (graph) => layOutDagre(graph),
  "d3-dag": (graph) => layOutD3Dag(graph),
  "Graphviz": (graph) => readGraphviz(graph, JSON.parse(graphviz.layout(dot(graph), "json", "dot"))),
  "ELK": (graph) => layOutElk(graph, "POLYLINE"),
};

const answers = {};
for (const [name, layOut] of Object.entries(tools)) {
  answers[name] = [];
  for (const graph of graphs) {
    try {
      const times = [];
      let answer;
      for (let at = 0; at <= repeats; at += 1) {
        const begin = process.cpuUsage();
        answer = await layOut(graph);
        const used = process.cpuUsage(begin);
        times.push((used.user + used.system) / 1000);
      }
      const [first, ...others] = times;
      others.sort((a, b) => a - b);
      answers[name].push({ ...answer, first, median: others.length ? others[Math.floor(others.length / 2)] : first });
    } catch (error) {
      answers[name].push({ error: String(error).slice(0, 200) });
    }
  }
}

const files = {
  "dagre": "@dagrejs/dagre/dist/dagre.min.js",
  "d3-dag": "d3-dag/dist/d3-dag.iife.min.js",
  "Graphviz": "@hpcc-js/wasm-graphviz/dist/index.js",
  "ELK": "elkjs/lib/elk.bundled.js",
};
const folders = { "dagre": "@dagrejs/dagre", "d3-dag": "d3-dag", "Graphviz": "@hpcc-js/wasm-graphviz", "ELK": "elkjs" };
const facts = Object.fromEntries(Object.entries(files).map(([name, file]) => {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${folders[name]}/package.json`, "utf8"));
  return [name, { version, license, bytes: readFileSync(`node_modules/${file}`).length }];
}));
process.stdout.write(JSON.stringify({ answers, facts, node: process.version }), () => process.exit(0));
