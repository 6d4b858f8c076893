import { expect, test } from "./support/test";
import { axeFaults } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

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
