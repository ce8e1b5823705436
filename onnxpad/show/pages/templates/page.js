"use strict";
(() => {
  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  function sortable(table) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((one) => one.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[column].textContent;
        const rows = [...body.rows].sort((a, b) => order.compare(key(a), key(b)));
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  }

  function searchable(table, number) {
    const field = document.createElement("input");
    const label = document.createElement("label");
    const count = document.createElement("span");
    const box = document.createElement("p");
    field.type = "search";
    field.id = `search-${number}`;
    label.htmlFor = field.id;
    label.textContent = `Search in ${table.caption.textContent}`;
    count.setAttribute("role", "status");
    box.className = "search";
    box.append(label, field, count);
    table.parentElement.before(box);
    const rows = [...table.tBodies[0].rows];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    /* "pools" finds what is called a pool. */
    const isIn = (word, text) => text.includes(word) || (word.length > 3 && text.includes(word.replace(/s$/, "")));
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !words.every((word) => isIn(word, texts.get(row)));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = words.length ? `${shown} of ${rows.length}` : "";
    });
  }

  /* The first picture of a long page has what is on the screen; the rest, which a print or a picture
     of the whole page shows, is drawn right behind it. */
  const drawAll = () => document.documentElement.classList.add("drawn");
  window.addEventListener("load", () => requestAnimationFrame(() => setTimeout(drawAll, 50)));
  window.addEventListener("beforeprint", drawAll);

  document.querySelectorAll("table").forEach((table, number) => {
    sortable(table);
    if (table.tBodies[0].rows.length > 5) searchable(table, number);
  });
})();
