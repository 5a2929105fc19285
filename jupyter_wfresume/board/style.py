"""The board's one stylesheet: no script, no outside resource, every rule below ``.wfr``."""

from __future__ import annotations

# State colours are from Okabe and Ito's set, which people with any common colour blindness tell
# apart; each has a texture of its own besides. Text, lines and grounds follow the front end's theme.
STYLE = """
.wfr{--wfr-ink:var(--jp-ui-font-color1,var(--vscode-foreground,currentColor));
--wfr-soft:var(--jp-ui-font-color2,var(--vscode-descriptionForeground,#6b6b6b));
--wfr-line:var(--jp-border-color2,var(--vscode-panel-border,rgba(128,128,128,.35)));
--wfr-track:var(--jp-layout-color2,var(--vscode-editorWidget-background,rgba(128,128,128,.14)));
--wfr-code:var(--jp-code-font-family,var(--vscode-editor-font-family,ui-monospace,monospace));
--wfr-done:#0072b2;--wfr-restored:#009e73;--wfr-running:#e69f00;--wfr-failed:#d55e00;
box-sizing:border-box;max-width:60rem;color:var(--wfr-ink);text-align:left;
font-family:var(--jp-ui-font-family,var(--vscode-font-family,system-ui,sans-serif));
font-size:var(--jp-ui-font-size1,var(--vscode-font-size,13px));line-height:20px;
font-variant-numeric:tabular-nums;font-feature-settings:"tnum"}
.wfr *{box-sizing:border-box}
.wfr+.wfr{margin-top:10px}
.wfr .wfr-plain{display:none}
.wfr .wfr-cut{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.wfr .wfr-soft{color:var(--wfr-soft)}
.wfr .wfr-head{display:grid;grid-template-columns:minmax(0,1fr) 3.6em 42%;column-gap:12px;
height:24px;line-height:24px}
.wfr .wfr-live .wfr-time{padding-right:92px}
.wfr .wfr-name{display:flex;gap:10px;min-width:0}
.wfr .wfr-name b{font-weight:600;flex:0 1 auto;min-width:4em}
.wfr .wfr-name .wfr-status{flex:0 0 auto}
.wfr .wfr-name .wfr-soft{flex:0 1 auto;min-width:0}
.wfr .wfr-share{text-align:right;font-weight:600}
.wfr .wfr-status i{display:inline-block;width:1.1em;font-style:normal;text-align:center}
.wfr .wfr-is-running i{color:var(--wfr-running)}
.wfr .wfr-is-done i{color:var(--wfr-restored)}
.wfr .wfr-is-failed i,.wfr .wfr-is-timed i,.wfr .wfr-is-stuck i{color:var(--wfr-failed)}
.wfr .wfr-whole{display:grid;grid-template-columns:minmax(0,1fr) 42%;column-gap:12px;
align-items:center;height:20px;margin-bottom:2px}
.wfr .wfr-whole .wfr-bar{height:12px}
.wfr .wfr-whole .wfr-soft{font-size:.92em}
.wfr .wfr-bar{display:flex;width:100%;height:9px;border-radius:2px;overflow:hidden;
background:var(--wfr-track);outline:1px solid var(--wfr-line);outline-offset:-1px}
.wfr .wfr-bar i,.wfr .wfr-key i{flex:0 1 0;min-width:3px;height:100%;border-right:1px solid var(--wfr-track)}
.wfr i.wfr-done{background:var(--wfr-done)}
.wfr i.wfr-restored{background:repeating-linear-gradient(-45deg,var(--wfr-restored) 0 3px,#8fd6c1 3px 5px)}
.wfr i.wfr-reused{background:repeating-linear-gradient(0deg,var(--wfr-restored) 0 2px,#8fd6c1 2px 3.5px)}
.wfr i.wfr-left-out{background:linear-gradient(var(--wfr-soft),var(--wfr-soft)) center/100% 2px no-repeat}
.wfr i.wfr-running{background:repeating-linear-gradient(90deg,var(--wfr-running) 0 4px,#8a5f00 4px 5.5px)}
.wfr i.wfr-failed{background:repeating-linear-gradient(45deg,transparent 0 3px,#fff 3px 4px),
repeating-linear-gradient(-45deg,var(--wfr-failed) 0 3px,#fff 3px 4px)}
.wfr i.wfr-queued{background:radial-gradient(circle,var(--wfr-soft) 1px,transparent 1.4px) 0 0/5px 5px}
.wfr table.wfr-steps{display:table;table-layout:fixed;width:100%;margin:0;padding:0;border:0;
border-collapse:collapse;border-spacing:0;font-size:inherit;color:inherit;background:none}
.wfr .wfr-steps tbody tr:nth-child(n){background:none;border:0;height:21px}
.wfr .wfr-steps tbody tr:nth-child(n) td{padding:0 12px 0 0;border:0;height:21px;line-height:21px;
vertical-align:middle;text-align:left;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:none;background:none}
.wfr .wfr-steps tbody tr:nth-child(n) td:last-child{padding-right:0}
.wfr .wfr-steps tbody tr:nth-child(n) td.wfr-num{text-align:right}
.wfr .wfr-num span{display:inline-block}
.wfr .wfr-num .wfr-of{text-align:left}
.wfr .wfr-key{display:flex;gap:16px;height:22px;line-height:22px;margin-top:3px;font-size:.92em;
color:var(--wfr-soft);white-space:nowrap;overflow:hidden}
.wfr .wfr-key span{flex:0 0 auto}
.wfr .wfr-key i{display:inline-block;width:16px;height:9px;border:0;margin-right:6px;
outline:1px solid var(--wfr-line);outline-offset:-1px}
.wfr .wfr-key b{display:inline-block;font-weight:400;text-align:right;color:var(--wfr-ink)}
.wfr .wfr-key .wfr-none{opacity:.45}
.wfr .wfr-say{margin-top:4px;font-weight:600;overflow-wrap:anywhere}
.wfr .wfr-mark{margin-top:4px;padding-left:10px;border-left:3px solid var(--wfr-line);overflow-wrap:anywhere}
.wfr .wfr-error{border-left-color:var(--wfr-failed)}
.wfr .wfr-ask{border-left-color:var(--wfr-done)}
.wfr .wfr-note{border-left-color:var(--wfr-running)}
.wfr .wfr-mark code,.wfr .wfr-mark pre{font-family:var(--wfr-code);font-size:.95em;color:inherit;
background:none!important;border:0;padding:0!important;margin:0;
white-space:pre-wrap;overflow-wrap:anywhere;line-height:18px}
.wfr .wfr-mark pre{max-height:16em;overflow:auto}
.wfr.wfr code{font-family:var(--wfr-code);font-size:.95em;color:inherit;background:none;border:0;
padding:0;margin:0}
.wfr .wfr-mark summary{cursor:pointer;color:var(--wfr-soft)}
.wfr .wfr-fact{display:grid;grid-template-columns:3.6em minmax(0,1fr)}
.wfr .wfr-failed-one{display:flex;column-gap:12px;height:20px;white-space:nowrap}
.wfr .wfr-failed-one>span:first-child{flex:none;min-width:9em}
.wfr .wfr-failed-one .wfr-cut{flex:1 1 0;min-width:6em}
.wfr .wfr-failed-one span.wfr-cut{flex:0 1 auto;min-width:0}
.wfr .wfr-failed-one code.wfr-cut{white-space:nowrap}
.wfr .wfr-fixed{display:grid;grid-template-columns:calc(7em + 4px) minmax(0,auto) auto;column-gap:8px;
justify-content:start;min-height:24px}
.wfr .wfr-fixed code{font-family:var(--wfr-code);font-size:.95em;color:inherit;background:none;
overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.wfr .wfr-fault{color:var(--jp-error-color1,var(--wfr-failed))}
.wfr .wfr-facts{display:grid;grid-template-columns:6em minmax(0,1fr);column-gap:12px;margin:2px 0 6px}
.wfr .wfr-facts>div{overflow-wrap:anywhere;min-width:0}
.wfr .wfr-facts pre{font-family:var(--wfr-code);font-size:.95em;color:inherit;background:none!important;
border:0;padding:0!important;margin:0;white-space:pre-wrap;overflow-wrap:anywhere;line-height:20px;max-height:24em;overflow:auto}
.wfr .wfr-lane{position:relative;height:9px;background:var(--wfr-track);border-radius:2px;overflow:hidden}
.wfr .wfr-lane i{position:absolute;top:0;height:100%;min-width:3px}
.wfr .wfr-pair>span{overflow-wrap:normal}
.wfr .wfr-pair{display:grid;grid-template-columns:minmax(min-content,16%) minmax(0,1fr);column-gap:12px;
padding:3px 0;border-top:1px solid var(--wfr-line);overflow-wrap:anywhere}
.wfr .wfr-foot{min-height:20px;font-size:.92em;color:var(--wfr-soft);overflow-wrap:anywhere}
.wfr .wfr-run{display:grid;grid-template-columns:minmax(0,1.2fr) 6.5em 8.5em minmax(3em,1fr) 42%;
column-gap:12px;align-items:center;height:21px}
.wfr .wfr-runs thead th{padding:0 12px 0 0;border:0;text-align:left;font-weight:400;color:var(--wfr-soft);
height:22px;background:none;white-space:nowrap}
.wfr .wfr-runs thead th.wfr-num{text-align:right}
.wfr table.wfr-wide{font-size:.88em}
.wfr .wfr-wide thead th,.wfr .wfr-wide tbody tr:nth-child(n) td{padding-right:8px}
.wfr table.wfr-list{table-layout:auto}
.wfr .wfr-scroll{overflow-x:auto;container-type:inline-size}
.wfr .wfr-scroll+.wfr-scroll{margin-top:14px}
.wfr .wfr-list thead th:last-child{padding-right:0}
.wfr .wfr-list tbody tr:nth-child(n) td{overflow:visible;text-overflow:clip}
.wfr .wfr-list tbody tr:nth-child(n) td.wfr-wraps{white-space:normal;overflow-wrap:break-word}
.wfr .wfr-list .wfr-fill{width:0;min-width:100%}
.wfr .wfr-list .wfr-part{white-space:nowrap}
.wfr .wfr-list tbody tr:nth-child(n) td.wfr-when{width:22%;min-width:60px}
.wfr .wfr-list tbody tr:nth-child(n) td.wfr-said{width:48%;min-width:9em;max-width:0}
.wfr .wfr-list .wfr-why{white-space:normal;overflow-wrap:break-word;display:-webkit-box;overflow:hidden;
-webkit-box-orient:vertical;-webkit-line-clamp:4}
@container (max-width:500px){.wfr .wfr-list .wfr-when,.wfr .wfr-list .wfr-after{display:none}}
.wfr .wfr-runs thead{border-bottom:1px solid var(--wfr-line)}
@media (forced-colors:active){.wfr .wfr-bar,.wfr .wfr-bar i,.wfr .wfr-key i{forced-color-adjust:none}}
"""
