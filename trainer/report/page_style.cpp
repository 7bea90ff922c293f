#include "report/page_assets.hpp"

namespace hpcboot::report {

Encoded page_style() {
  return R"(
:root { color-scheme: light dark; --back: #ffffff; --text: #1c2330; --quiet: #566070; --line: #d4d9e1;
  --shade: #f3f5f8; --link: #0b5cad; --mark: #ffe7b0; --warn: #fff4de; --warn-line: #c47f00; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181f; --text: #e4e8ee; --quiet: #a3adbb; --line: #363e4a; --shade: #1d232c;
    --link: #7db8f2; --mark: #6b4c00; --warn: #2b2415; --warn-line: #d99a2b; }
  .wide img { filter: invert(0.92) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 82rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif;
  background: var(--back); color: var(--text); }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem; }
h4 { font-size: 1rem; margin: 0.8rem 0 0.3rem; }
h1, h2, h4, p, li, dd, summary, mark { overflow-wrap: anywhere; }
a { color: var(--link); }
nav a { margin-right: 1rem; }
.quiet, footer, nav { color: var(--quiet); font-size: 0.9rem; }
footer { margin-top: 2rem; }
.warnings { background: var(--warn); border-left: 4px solid var(--warn-line); margin-top: 1rem;
  padding: 0.2rem 1rem; }
.warnings h2 { margin-top: 0.5rem; }
.warnings p { margin: 0.5rem 0 0; }
.warnings ul { margin: 0 0 0.5rem; }
.wide { overflow-x: auto; margin: 0.5rem 0 1rem; border: 1px solid var(--line); border-radius: 6px; }
.wide img { display: block; width: 100%; min-width: 40rem; max-width: 60rem; height: auto; margin: 0 auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.6rem; text-align: left; white-space: nowrap;
  border-bottom: 1px solid var(--line); vertical-align: baseline; }
th { background: var(--shade); }
tbody tr:last-child td { border-bottom: 0; }
tbody tr:hover { background: var(--shade); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
th button { all: unset; cursor: pointer; }
th button:focus-visible, .wide:focus-visible, input:focus-visible { outline: 2px solid var(--link); }
th[aria-sort="ascending"] button::after { content: " ▲"; }
th[aria-sort="descending"] button::after { content: " ▼"; }
mark { background: var(--mark); color: inherit; padding: 0 0.25rem; border-radius: 3px; }
label { display: inline-block; }
input { font: inherit; width: 16rem; max-width: 100%; padding: 0.2rem 0.5rem; color: inherit;
  background: var(--back); border: 1px solid var(--quiet); border-radius: 4px; }
summary { cursor: pointer; padding: 0.3rem 0; }
details { border-bottom: 1px solid var(--line); padding-bottom: 0.3rem; }
dl { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr); gap: 0.1rem 1rem;
  margin: 0.3rem 0; font-size: 0.9rem; }
dt { color: var(--quiet); overflow-wrap: anywhere; }
dd { margin: 0; }
.hosts { display: flex; flex-wrap: wrap; gap: 0.8rem; }
.host { border: 1px solid var(--line); border-radius: 6px; padding: 0.4rem 0.8rem; max-width: 100%;
  font-size: 0.9rem; }
.host h4 { margin: 0; }
.host p { margin: 0; color: var(--quiet); }
.host .busy { color: inherit; font-weight: 600; }
.host ol { display: flex; flex-wrap: wrap; gap: 0.3rem; list-style: none; margin: 0.4rem 0; padding: 0; }
.host li { background: var(--shade); border: 1px solid var(--line); border-radius: 4px; padding: 0 0.4rem; }
@media print { .wide { overflow: visible; } #controls { display: none; } }
)";
}

}  // namespace hpcboot::report
