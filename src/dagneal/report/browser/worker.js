// Questions to the worker. It answers one at a time; of the questions that wait, only the last is asked.
function startWorker(network, onFailure) {
  const source = new Blob([byId("inference").textContent], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(source)), waiting = new Map();
  let active = null, number = 0;
  const send = () => {
    for (const [kind, entry] of waiting) {
      waiting.delete(kind);
      active = entry;
      worker.postMessage(entry.question);
      return;
    }
    active = null;
  };
  worker.onmessage = ({ data }) => {
    const { question, receive } = active;
    if (!waiting.has(question.kind)) receive(data); // otherwise the answer is out of date
    send();
  };
  worker.onerror = (event) => { event.preventDefault(); onFailure(event.message || "the worker failed"); };
  const { parents, sets } = network, states = network.states.map((labels) => labels.length);
  worker.postMessage({ kind: "load", network: { states, parents, sets, tables: readTables(network) } });
  return (kind, observed, fixed, receive) => {
    const question = { kind, id: number++, observed: [...observed], fixed: [...fixed] };
    waiting.set(kind, { question, receive });
    if (!active) send();
  };
}
