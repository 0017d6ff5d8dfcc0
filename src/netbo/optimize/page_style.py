"""How a page looks: on screen and on paper."""

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #22272e; background: #fff;
  max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid #d0d7de; }
pre { background: #f6f8fa; padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; white-space: pre-wrap;
  font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #e4e8ec; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { border-bottom: 2px solid #8b949e; white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
img { max-width: 100%; height: auto; display: block; margin: .4rem 0; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 1rem; }
figure { margin: 0; break-inside: avoid; }
figcaption { font-size: 13px; color: #57606a; }
.warning { border-left: 4px solid #c0392b; background: #fdf3f2; padding: .4rem .8rem; margin: .5rem 0; }
@media print {
  body { max-width: none; margin: 0; font-size: 11pt; }
  pre { border: 1px solid #d0d7de; }
  h2, tr { break-after: avoid; break-inside: avoid; }
  thead { display: table-header-group; }
}
"""
