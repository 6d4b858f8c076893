import { expect, test, type Page } from "./support/test";
import { axeFaults, settle } from "./support/axe";
import { seedProject } from "./support/seed";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

/** Phones, a tablet, and windows on both sides of where columns are left out. */
const WIDTHS = [320, 390, 768, 1024, 1180, 1440];
const HEIGHT = 900;
/** Three lines of text, with the space around them, and a line for a button. */
const CARD_HEIGHT_MAX = 132;

const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth);

test("no page that is full of data is wider than the window, from phones to desktops", async ({ page }) => {
  test.setTimeout(300_000);
  await signIn(page.request);
  const tooWide: string[] = [];
  for (const path of await seedProject(page)) {
    await page.goto(path);
    await settle(page);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      // Charts take their new width a frame or two after the window did.
      const fits = await expect
        .poll(() => widthOf(page), { timeout: 2_000 })
        .toBeLessThanOrEqual(width)
        .then(
          () => true,
          () => false,
        );
      if (!fits) tooWide.push(`${path} at ${String(width)}: ${String(await widthOf(page))}`);
    }
  }
  expect(tooWide).toEqual([]);
});

test("on phones the rows of a list are cards of at most three lines", async ({ page }) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  await seedProject(page);
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of ["/activity", "/payouts", "/accounts", "/api-keys", "/"]) {
    await page.goto(path);
    await settle(page);
    const rows = page.getByRole("main").locator("tbody tr");
    await expect(rows.first()).toBeVisible();
    const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights), path).toBeLessThanOrEqual(CARD_HEIGHT_MAX);
  }
});

test("a page that does not exist says so inside the frame, with the way on", async ({ page }) => {
  await signIn(page.request);
  const answer = await page.goto("/no/such/page");
  expect(answer?.status()).toBe(404);
  await expect(page.getByRole("heading", { name: "Nothing here", level: 1 })).toBeVisible();
  await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole("link", { name: "Go to the overview" }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
});

test("the palette finds records by their names, says nothing above a hit, and gives the focus back", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  const { treasury } = project;
  await page.goto("/");
  const opener = page.getByRole("button", { name: /Go to or search/ });
  await opener.click();
  const palette = page.getByRole("dialog", { name: "Go to or search" });
  await palette.getByRole("combobox").fill("treas");
  await expect(palette.getByRole("option", { name: /^Treasury/ })).toBeVisible();
  await expect(palette.getByText("Nothing found.")).toHaveCount(0);
  await palette.getByRole("combobox").fill(treasury.address);
  await expect(palette.getByRole("option", { name: /^The wallet with this address/ })).toBeVisible();
  await expect(palette.getByText("Nothing found.")).toHaveCount(0);
  await palette.getByRole("combobox").fill("qqqq");
  await expect(palette.getByText("Nothing found.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(palette).toHaveCount(0);
  await expect(opener).toBeFocused();
  await page.keyboard.press("Control+k");
  await palette.getByRole("combobox").fill("sign out");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/sign-in/);
});
