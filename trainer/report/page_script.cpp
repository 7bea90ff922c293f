#include "report/page_assets.hpp"

namespace hpcboot::report {

Encoded page_script() {
  return R"(
'use strict';
const table = document.querySelector('#table table');
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const titles = [...table.tHead.rows[0].cells];
  const order = new Intl.Collator(undefined, {numeric: true});
  const number = cell => cell.dataset.value === undefined ? null : Number(cell.dataset.value);

  // Unknown figures come last in either direction.
  const compared = (a, b, column, sign) => {
    const cells = [a.cells[column], b.cells[column]];
    if (!titles[column].classList.contains('number'))
      return sign * order.compare(cells[0].textContent, cells[1].textContent);
    const [x, y] = cells.map(number);
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (x - y);
  };
  titles.forEach((title, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener('click', () => {
      const sign = title.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      for (const other of titles) other.removeAttribute('aria-sort');
      title.setAttribute('aria-sort', sign === 1 ? 'ascending' : 'descending');
      body.append(...rows.sort((a, b) => compared(a, b, column, sign)));
    });
  });

  const filter = document.querySelector('#filter');
  const count = document.querySelector('#count');
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(word => word);
    let shown = 0;
    for (const row of rows) {
      const text = [...row.cells].map(cell => cell.textContent).join(' ').toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
      if (!row.hidden) ++shown;
    }
    count.textContent = `${shown} of ${rows.length} runs`;
  };
  filter.addEventListener('input', show);
  document.querySelector('#controls').hidden = false;
  show();
}

const open = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target || target.tagName !== 'DETAILS') return;
  target.open = true;
  target.scrollIntoView();
};
addEventListener('hashchange', open);
open();
)";
}

Encoded page_script_hash() {
  return "+oTvFe2o37OKbnhaIKHNY3z/zzlvoUoRVTX3VZHLp5c=";
}

}  // namespace hpcboot::report
