export default function () {
  window.relicCopying?.abort() // drawn anew, the component is begun anew: two that write at once spoil the clipboard
  const gone = window.relicCopying = new AbortController()
  const byHand = words => {
    const range = document.createRange()
    range.selectNodeContents(words)
    const selection = getSelection()
    selection.removeAllRanges()
    selection.addRange(range)
    const done = document.execCommand("copy")
    selection.removeAllRanges()
    return done
  }
  const copy = async words => {
    const text = words.innerText
    try {
      await navigator.clipboard.write([new ClipboardItem({
        "text/plain": new Blob([text], { type: "text/plain" }),
        "text/html": new Blob([words.innerHTML], { type: "text/html" }),
      })])
      return true
    } catch {
      return byHand(words) // no clipboard without https, or it was refused
    }
  }
  const press = async event => {
    const button = event.target.closest?.("button.relic-copy-button")
    const words = button?.closest(".relic-copy")?.querySelector(".relic-copied")
    if (!words) return
    const done = await copy(words)
    const said = button.querySelector("[role=status]")
    const label = button.querySelector("[data-words]")
    label.textContent = done ? "Copied" : "Not copied: mark the words and press Ctrl+C"
    said.textContent = done ? "Copied" : "Not copied"
    clearTimeout(button.undoing)
    button.undoing = setTimeout(() => { label.textContent = label.dataset.words; said.textContent = "" }, 2500)
  }
  document.addEventListener("click", press, { signal: gone.signal })
  document.documentElement.dataset.relicCopying = "listening"
  return () => gone.abort()
}
