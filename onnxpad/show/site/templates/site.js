(() => {
  const MOST = 12;
  const index = window.onnxpadIndex || { entries: [], names: {}, words: {} };
  const entries = index.entries;
  const find = window.onnxpadFinding(index);
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
    const { hits, most, all, notes } = find(field.value);
    list.replaceChildren(...hits.slice(0, MOST).map((number) => item(entries[number])));
    if (hits.length > MOST) list.append(more(hits.slice(MOST)));
    if (hits.length && most < all) notes.push(`with ${most} of ${all} words`);
    if (hits.length > MOST) notes.push(`the first ${MOST} are shown`);
    count.textContent = all ? [`${hits.length} found`, ...notes].join(", ") : "";
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
  field.addEventListener("focus", () => find(""), { once: true });
  field.addEventListener("input", search);
  finder.addEventListener("keydown", move);
  search();
})();
