import { chromium, type Page } from "@playwright/test";
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", args: ["--no-sandbox"] });
const SIZES = { w: { width: 1440, height: 900 }, p: { width: 390, height: 844 } } as const;
const settle = async (page: Page) => { await page.waitForTimeout(2500); };
const csv = "Supplier,Wallet,Network,Groups,Birthday\nAda Lovelace,0x70997970C51812dc3A010C7d01b50e0d17dc79C8,Local 1,Payroll; Berlin,1 May\nMallory,0x7099000000000000000000000000000000007 9c8,,,2 May\nBank,0x3C44CdDdB6a900fa2b585dd299e03d12FA4293Bc,Polygon,,3 May\nZed,0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc,,,4 May\n";
const jobs: [string, string, string, ((page: Page) => Promise<void>)?][] = [
  ["s", "notif", "/settings/notifications"],
  ["s", "exports", "/activity/exports"],
  ["s", "policies", "/settings/policies"],
  ["s", "activity-sel", "/activity", async (page) => {
    const select = page.getByRole("button", { name: "Select", exact: true });
    if (await select.isVisible()) await select.click();
    const boxes = page.getByRole("checkbox");
    await boxes.nth(1).click(); await boxes.nth(2).click();
  }],
  ["s", "payouts-sel", "/payouts", async (page) => {
    const select = page.getByRole("button", { name: "Select", exact: true });
    if (await select.isVisible()) await select.click();
    await page.getByRole("checkbox").nth(1).click();
  }],
  ["s", "contacts-import", "/contacts", async (page) => {
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("dialog", { name: "Import contacts" }).locator("input[type=file]").setInputFiles({ name: "s.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
  }],
  ["s", "contacts-review", "/contacts", async (page) => {
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("dialog", { name: "Import contacts" }).locator("input[type=file]").setInputFiles({ name: "s.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
    await page.getByRole("button", { name: "Use 4 rows" }).click();
  }],
  ["g", "inbox-sel", "/inbox", async (page) => {
    const boxes = page.getByRole("checkbox");
    if (await boxes.count() > 0) { await boxes.nth(0).click(); }
  }],
  ["g", "decision", "/inbox", async (page) => {
    await page.getByRole("list", { name: "Waiting for you" }).getByRole("link", { name: /^Pay / }).first().click();
    await page.getByRole("group", { name: "Vote" }).waitFor();
  }],
  ["s", "overview", "/"],
];
const only = process.argv[2]?.split(",");
for (const [who, name, path, act] of jobs) {
  if (only !== undefined && !only.includes(name)) continue;
  for (const [sn, viewport] of Object.entries(SIZES)) for (const colorScheme of ["light", "dark"] as const) {
    if (sn === "p" && colorScheme === "dark" && name !== "decision") continue;
    const c = await browser.newContext({ baseURL: process.env.E2E_BASE_URL, storageState: `/tmp/look/${who}.json`, viewport, colorScheme });
    const page = await c.newPage();
    page.on("console", (m) => { if (m.type() === "error") console.log(name, "console", m.text().slice(0, 200)); });
    try {
      await page.goto(path); await settle(page);
      if (act) { await act(page); await settle(page); }
    } catch (e) { console.log(name, sn, String(e).slice(0, 200)); }
    const dialog = await page.getByRole("dialog").count() > 0;
    await page.screenshot({ path: `/tmp/look/${name}-${sn}-${colorScheme}.png`, fullPage: !dialog && sn === "w" });
    await c.close();
  }
}
await browser.close();
