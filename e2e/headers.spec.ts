import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { expect, test } from "./support/test";
import { settle } from "./support/axe";
import { signInWithBurner } from "./support/person";
import { watchPolicy } from "./support/policy-violations";
import { signIn } from "./support/sign-in";

/** One page of each kind: forms, tables, charts, dialogs, lists. */
const PAGES = [
  "/",
  "/swap",
  "/transfer",
  "/payouts",
  "/payouts/new",
  "/private",
  "/activity",
  "/balances",
  "/accounts",
  "/reserves",
  "/wallets",
  "/contacts",
  "/api-reference",
  "/api-keys",
  "/webhooks",
  "/inbox",
  "/members",
  "/audit-log",
  "/settings",
  "/settings/security",
];

const nonceIn = (policy: string | undefined): string | undefined =>
  /'nonce-([^']+)'/.exec(policy ?? "")?.[1];

// pages.spec.ts checks the light theme of every page.
test("no page needs what its content security policy forbids when it is opened in the dark theme", async ({
  page,
}) => {
  const violations = await watchPolicy(page);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/sign-in");
  await page
    .getByRole("button", { name: /wallet/i })
    .first()
    .waitFor();
  await signInWithBurner(page);
  for (const path of ["/", "/swap", "/payouts/new", "/balances", "/api-reference"]) {
    await page.goto(path);
    await settle(page);
    expect(violations, path).toEqual([]);
  }
});

test("the policy allows RainbowKit's own dialog, in the app's colours", async ({ page }) => {
  const violations = await watchPolicy(page);
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Connect a wallet" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  // The dialog's theme comes from a style element of the app, which the policy must allow.
  const color = await page
    .getByRole("dialog")
    .evaluate((element) =>
      getComputedStyle(element).getPropertyValue("--rk-colors-modalBackground"),
    );
  expect(color).not.toBe("");
  expect(violations).toEqual([]);
});

test("a script or style that somebody injects does not run", async ({ page }) => {
  const violations = await watchPolicy(page);
  await page.goto("/sign-in");
  await page.evaluate(() => {
    const holder = document.createElement("div");
    holder.innerHTML = `<img src="x:" onerror="window.wasRun = true"><style>body{outline:7px solid red}</style>`;
    document.body.append(holder);
  });
  await expect.poll(() => violations.length).toBeGreaterThanOrEqual(2);
  expect(await page.evaluate(() => "wasRun" in window)).toBe(false);
  expect(await page.evaluate(() => getComputedStyle(document.body).outlineWidth)).not.toBe(
    "7px",
  );
});

test("the HTML of a signed-in person's pages holds no token, and every inline script has the answer's nonce", async ({
  page,
}) => {
  await signIn(page.request);
  const { accessToken } = (await (await page.request.get("/api/auth/session")).json()) as {
    accessToken: string;
  };
  expect(accessToken.split(".")).toHaveLength(3);
  for (const path of PAGES) {
    const answer = await page.request.get(path);
    const html = await answer.text();
    expect(html, path).not.toContain(accessToken);
    // The HTML contains no JWT at all. The header of a JWT begins with `{"`, which is `eyJ` in
    // base64url.
    expect(html, path).not.toMatch(/eyJ[\w-]+\.[\w-]+\./);
    const nonce = nonceIn(answer.headers()["content-security-policy"]);
    const scripts = [...html.matchAll(/<script([^>]*)>/g)].map(
      ([, attributes]) => attributes ?? "",
    );
    expect(scripts.length, path).toBeGreaterThan(0);
    for (const attributes of scripts)
      expect(attributes, path).toContain(`nonce="${String(nonce)}"`);
  }
});

test("every file of the build is served with its content, and none is a source map or names one", async ({
  request,
}) => {
  const folder = ".next/static";
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) {
    const answer = await request.get(`/_next/static/${path}`);
    const body = await answer.text();
    expect([path, answer.status(), body.length > 0]).toEqual([path, 200, true]);
    expect([path, path.endsWith(".map") || body.includes("sourceMappingURL=")]).toEqual([
      path,
      false,
    ]);
    if (!path.endsWith(".js")) continue;
    expect([path, (await request.get(`/_next/static/${path}.map`)).status()]).toEqual([
      path,
      404,
    ]);
  }
});
