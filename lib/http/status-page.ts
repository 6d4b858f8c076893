import { createHash } from "node:crypto";

/** Text of a page that the server shows without Next. */
interface StatusPage {
  readonly title: string;
  readonly text: string;
  /** Seconds until the browser reloads; absent: it does not reload. */
  readonly refreshSeconds?: number;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");

const STYLE = `
:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif;background:#f7f8fa;color:#16191f}
main{max-width:28rem;padding:2rem 1.5rem}
h1{font-size:1.375rem;margin:0 0 .5rem}
p{margin:0;color:#4b5362}
a{color:inherit}
@media (prefers-color-scheme:dark){body{background:#101318;color:#eceef2}p{color:#a4acba}}
`;

/** Allows the page's style element, and no other, in a content security policy. */
export const STATUS_STYLE_HASH = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

/** A self-contained page: no script, no font, no image. */
export const statusPage = ({ title, text, refreshSeconds }: StatusPage): string =>
  [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    refreshSeconds === undefined ? "" : `<meta http-equiv="refresh" content="${String(refreshSeconds)}">`,
    `<title>${escaped(title)} – Causeway</title><style>${STYLE}</style></head>`,
    `<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p></main></body></html>`,
  ].join("");
