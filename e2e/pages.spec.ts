import { readdirSync } from "node:fs";
import { expect, test, type Page } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { checkHiddenAmounts } from "./support/hidden-amounts";
import { countShifts, expectStill } from "./support/layout-shifts";
import { watchPolicy } from "./support/policy-violations";
import { seedProject } from "./support/seed";
import { signIn } from "./support/sign-in";
import { expectNoHigherThan } from "./support/sizes";

const PAGES = [
  "/",
  "/swap",
  "/transfer",
  "/receive",
  "/activity",
  "/activity/exports",
  "/activity/summary",
  "/balances",
  "/wallets",
  "/accounts",
  "/payouts",
  "/payouts/new",
  "/payouts/schedules",
  "/private",
  "/private/transfer",
  "/reserves",
  "/contacts",
  "/api-reference",
  "/api-keys",
  "/webhooks",
  "/members",
  "/audit-log",
  "/accept-invitation",
  "/settings",
  "/settings/security",
  "/settings/notifications",
  "/settings/reporting",
  "/settings/sponsor-budgets",
  "/settings/stopped-work",
  "/inbox",
  "/notifications",
  "/dev/mail",
  "/dev/webhooks",
];

/**
 * Window sizes: a tablet, and windows on both sides of the widths at which columns are hidden.
 * Phones are always checked too.
 */
const WIDE = [768, 1024, 1180, 1440].map((width) => ({ width, height: 900 }));
/** Height of three lines of text and a line for a button, with padding, in pixels. */
const CARD_HEIGHT_MAX = 132;
const LISTS = ["/", "/activity", "/payouts", "/accounts", "/api-keys", "/webhooks"];
/** Height of one line of text with padding and the border below, in pixels. */
const ROW_HEIGHT_MAX = 40;
/** The list with the most columns. */
const WIDEST_LIST = "/activity";
const PARTS = 2;
/** Pages that other tests check, because they need more data than the seed. */
const ELSEWHERE = [
  "/api-keys/[id]",
  "/inbox/[id]",
  "/join",
  "/not-me",
  "/settings/policies",
  "/settings/policies/[subject]",
  "/settings/policies/evaluations/[id]",
];

/**
 * Seeded pages that need more than their path: with a token in the address, the forms show
 * available amounts. The audit log and the notifications name the seeded movements.
 */
const FILLED = [
  "/swap?from=USDC&chain=31337",
  "/transfer?token=USDC&chain=31337",
  "/audit-log",
  "/notifications",
];

/** Paths of all pages of the app, as the folders name them: `/payouts/[id]`. */
const pagesOfApp = (): string[] =>
  readdirSync("app", { recursive: true, encoding: "utf8" })
    .filter((file) => /(^|[\\/])page\.tsx$/.test(file))
    .map(
      (file) =>
        `/${file
          .split(/[\\/]/)
          .slice(0, -1)
          .filter((folder) => !folder.startsWith("("))
          .join("/")}`.replace(/\/$/, "") || "/",
    );

const isOf = (page: string, path: string): boolean =>
  new RegExp(`^${page.replace(/\[[^\]]+\]/g, "[^/]+")}$`).test(path.replace(/\?.*$/, ""));

const checkCards = async (page: Page, path: string): Promise<void> => {
  await page.setViewportSize({ width: 390, height: 844 });
  const rows = page.getByRole("main").locator("tbody tr");
  await expectNoHigherThan(rows, CARD_HEIGHT_MAX, path);
  await page.setViewportSize({ width: 1280, height: 800 });
};

const checkRows = async (page: Page, path: string): Promise<void> => {
  const rows = page.getByRole("main").locator("tbody tr");
  for (const width of [1440, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await expectNoHigherThan(rows, ROW_HEIGHT_MAX, `${path} at ${String(width)} px`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
};

// The tests share no data, so each worker may run one of them.
test.describe.configure({ mode: "parallel" });

test("no page without data has a fault that axe finds, breaks its policy, or is wider than a phone", async ({
  page,
}) => {
  test.setTimeout(600_000);
  const violations = await watchPolicy(page);
  await page.goto("/sign-in");
  await settle(page);
  await checkLooks(page, "/sign-in");
  await signIn(page.request);
  for (const path of PAGES) {
    await page.goto(path);
    await settle(page);
    await checkLooks(page, path);
    expect(violations, path).toEqual([]);
  }
});

/**
 * Opening a page takes longer than the checks, so each page is opened once and then gets all checks
 * that apply to every page.
 */
for (let part = 0; part < PARTS; part += 1) {
  test(`every page that is full of data is still while it loads, fits every window, has cards of three lines, no fault that axe finds, hides its amounts, and keeps its policy (part ${String(part + 1)} of ${String(PARTS)})`, async ({
    page,
  }) => {
    test.setTimeout(600_000);
    await signIn(page.request);
    const seeded = await seedProject(page);
    const paths = [...seeded, ...FILLED];
    const looked = [...PAGES, "/sign-in", ...ELSEWHERE, ...paths];
    expect(
      pagesOfApp().filter((one) => !looked.some((path) => path === one || isOf(one, path))),
    ).toEqual([]);
    const violations = await watchPolicy(page);
    await countShifts(page);
    let amounts = 0;
    for (const path of paths.filter((_, index) => index % PARTS === part)) {
      await page.goto(path);
      await settle(page);
      await expectStill(page, path);
      await checkLooks(page, path, WIDE);
      if (LISTS.includes(path)) await checkCards(page, path);
      if (path === WIDEST_LIST) await checkRows(page, path);
      amounts += (await checkHiddenAmounts(page, path)).length;
      expect(violations, path).toEqual([]);
    }
    // Without this check, pages that show no amounts at all would pass.
    expect(amounts).toBeGreaterThan(0);
  });
}

test("a person who is not signed in is sent to the sign-in page, and after it to the page that was asked for", async ({
  page,
}) => {
  await page.goto("/activity?kind=transfer");
  await expect(page).toHaveURL(/\/sign-in\?from=/);
  await page.getByRole("button", { name: "Use the burner wallet" }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page).toHaveURL(/\/activity\?kind=transfer$/);
  await expect(page.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
});

test("an API key is shown once, works, and stops working when it is revoked", async ({
  page,
  request,
}) => {
  await signIn(page.request);
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "New API key" }).first().click();
  await page.getByLabel("Name").fill("Payroll");
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  const secret = (await page.getByTestId("api-key-secret").textContent()) ?? "";
  expect(secret).toMatch(/^cw_test_/);
  const ask = () => request.get("/api/wallets", { headers: { "x-api-key": secret } });
  expect((await ask()).status()).toBe(200);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Close for good" }).click();
  await expect(page.getByText(secret)).toHaveCount(0);
  await page.getByRole("button", { name: "Revoke Payroll" }).click();
  await page.getByRole("button", { name: "Revoke key" }).click();
  await expect(page.getByText("Revoked").first()).toBeVisible();
  await expect(async () => expect((await ask()).status()).toBe(401)).toPass();
  await page.getByRole("link", { name: "Requests of Payroll" }).click();
  await expect(
    page.getByRole("heading", { name: "Requests of Payroll", level: 1 }),
  ).toBeVisible();
  const requests = page
    .getByRole("table", { name: "Requests" })
    .getByRole("row", { name: /GET \/wallets/ });
  const answered = (answer: string) =>
    requests.filter({ has: page.getByText(answer, { exact: true }) });
  // The page reads the list every 5 seconds, and a request appears in it about a second after its
  // answer.
  await expect(answered("401 api_key_revoked").first()).toBeVisible();
  await expect(answered("200").last()).toBeVisible();
  await settle(page);
  await checkLooks(page, "/api-keys/[id]");
});
