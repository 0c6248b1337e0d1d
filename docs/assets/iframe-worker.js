/* Search from file://: browsers start no workers there, so the script of the search runs in a hidden frame instead. */
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.title = "search"
      this.ready = new Promise(resolve => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow
          inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
          inside.importScripts = async (...urls) => {
            for (const each of urls) await load(inside.document, each)
          }
          load(inside.document, url).then(() => resolve(inside))
        }, { once: true })
      })
      document.body ? document.body.append(frame) : addEventListener("DOMContentLoaded", () => document.body.append(frame))

      function load(inner, src) {
        return new Promise((resolve, reject) => {
          const script = inner.createElement("script")
          Object.assign(script, { src, onload: resolve, onerror: reject })
          inner.head.append(script)
        })
      }
    }

    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }

    terminate() {}
  }
