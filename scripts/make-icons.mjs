// Draws the icons of the installed app from the product's mark: node scripts/make-icons.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "@playwright/test";
import { findChromium } from "./chromium.mjs";

const MARK = readFileSync("public/icon.svg", "utf8");
/** The mark with square corners instead of rounded ones. */
const SQUARE = MARK.replace('rx="7"', 'rx="0"');
const INK = "#0b5c73";
/**
 * Scale of the mark in a maskable icon. A platform may show only a circle of 80 % of the icon's
 * width.
 */
const MASKABLE_SCALE = 0.74;
const TOUCH_SCALE = 0.9;

/**
 * The mark without its background. It is white on transparent, because the system draws a badge in
 * its own colour.
 */
const BADGE = MARK.replace(/<rect[^>]*\/>/, "");

const ICONS = [
  { file: "icon-192.png", size: 192, svg: MARK, scale: 1, background: "transparent" },
  { file: "icon-512.png", size: 512, svg: MARK, scale: 1, background: "transparent" },
  { file: "maskable-512.png", size: 512, svg: SQUARE, scale: MASKABLE_SCALE, background: INK },
  { file: "apple-touch-icon.png", size: 180, svg: SQUARE, scale: TOUCH_SCALE, background: INK },
  { file: "badge-96.png", size: 96, svg: BADGE, scale: 1, background: "transparent" },
];

const pageOf = ({ size, svg, scale, background }) => {
  const width = String(Math.round(size * scale));
  const drawn = svg.replace("<svg ", `<svg width="${width}" height="${width}" `);
  return `<body style="margin:0;height:${String(size)}px;display:grid;place-items:center;background:${background}">${drawn}</body>`;
};

const browser = await chromium.launch({
  executablePath: await findChromium(console.log),
  args: ["--no-sandbox"],
});
const page = await browser.newPage();
for (const icon of ICONS) {
  await page.setViewportSize({ width: icon.size, height: icon.size });
  await page.setContent(pageOf(icon));
  writeFileSync(`public/icons/${icon.file}`, await page.screenshot({ omitBackground: true }));
}
await browser.close();
