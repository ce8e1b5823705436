/* Entries that have every word of a question, those that have it in their title first. */
window.onnxpadFinding = (entries) => {
  const LITTLE = new Set(`a about an and are can does do for has how i in is it me model my of on or the to what when
    where which why with`.split(/\s+/));
  const plain = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "");
  const known = entries.map(([title, kind, , said, more]) =>
    [plain(title), plain(`${title} ${kind}`), plain(`${said} ${more}`)]);

  return (text) => {
    const words = text.toLowerCase().split(/[\s,?]+/).filter((word) => word && !LITTLE.has(word))
      .map((word) => plain(word).replace(/(.{3,})s$/, "$1")).filter(Boolean);
    const scores = known.map(([title, head, more]) => {
      const found = words.map((word) => (head.includes(word) ? 2 : more.includes(word) ? 1 : 0));
      const sum = found.reduce((one, other) => one + other, 0);
      return found.includes(0) || !sum ? 0 : sum + (words.join("") === title ? 9 : 0) - title.length / 1000;
    });
    return [...scores.keys()].filter((number) => scores[number] > 0)
      .sort((one, other) => scores[other] - scores[one] || one - other);
  };
};

(() => {
  const MOST = 12;
  const entries = window.onnxpadIndex || [];
  const find = window.onnxpadFinding(entries);
  const finder = document.getElementById("finder");
  const field = document.getElementById("find");
  const list = document.getElementById("found");
  const count = document.getElementById("found-count");
  const root = document.body.dataset.root;

  function item([title, kind, address, said]) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    const label = document.createElement("span");
    const words = document.createElement("span");
    link.href = root + address;
    link.textContent = title;
    label.className = `kind cell ${kind.toLowerCase().replace(/ /g, "-")}`;
    label.textContent = kind;
    words.className = "said";
    words.textContent = said;
    line.append(link, label, words);
    return line;
  }

  function more(hits) {
    const line = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `show ${hits.length} more`;
    button.addEventListener("click", () => {
      line.replaceWith(...hits.map((number) => item(entries[number])));
      list.children[MOST].querySelector("a").focus();
    });
    line.append(button);
    return line;
  }

  function search() {
    const hits = find(field.value);
    list.replaceChildren(...hits.slice(0, MOST).map((number) => item(entries[number])));
    if (hits.length > MOST) list.append(more(hits.slice(MOST)));
    count.textContent = field.value ? `${hits.length} found` : "";
  }

  function move(event) {
    const links = [...list.querySelectorAll("a")];
    const place = links.indexOf(document.activeElement);
    if (event.key === "Escape") { field.value = ""; search(); field.focus(); }
    if (event.key === "Enter" && place < 0 && links.length) links[0].click();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !links.length) return;
    event.preventDefault();
    (place + step < 0 ? field : links[Math.min(place + step, links.length - 1)]).focus();
  }

  finder.hidden = false;
  field.addEventListener("input", search);
  finder.addEventListener("keydown", move);
  search();
})();
