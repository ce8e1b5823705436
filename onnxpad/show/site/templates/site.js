(() => {
  const MOST = 40;
  const entries = window.onnxpadEntries || [];
  const finder = document.getElementById("finder");
  const field = document.getElementById("find");
  const list = document.getElementById("found");
  const count = document.getElementById("found-count");
  const root = document.body.dataset.root;
  const texts = entries.map((entry) => entry.join(" ").toLowerCase());
  const titles = entries.map((entry) => entry[0].toLowerCase());

  function rank(number, words) {
    const title = titles[number];
    if (title === words.join(" ")) return 0;
    return words.every((word) => title.includes(word)) ? 1 : 2;
  }

  function item([title, kind, address]) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    const said = document.createElement("span");
    link.href = root + address;
    link.textContent = title;
    said.className = "kind";
    said.textContent = kind;
    line.append(link, said);
    return line;
  }

  function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = words.length
      ? entries.map((_, number) => number).filter((number) => words.every((word) => texts[number].includes(word)))
      : [];
    hits.sort((one, other) => rank(one, words) - rank(other, words) || one - other);
    list.replaceChildren(...hits.slice(0, MOST).map((number) => item(entries[number])));
    const more = hits.length > MOST ? `, the first ${MOST} are shown` : "";
    count.textContent = words.length ? `${hits.length} found${more}` : "";
  }

  finder.hidden = false;
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { field.value = ""; search(); }
  });
  search();
})();
