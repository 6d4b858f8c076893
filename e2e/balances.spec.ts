import { expect, test } from "./support/test";
import { axeFaults } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

test("balances open to chains and wallets, can be hidden, and stay hidden", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/balances");
  await expect(page.getByText("No balances yet")).toBeVisible();
  const project = await projectOf(page);
  await expect(page.getByText(project.treasury.address)).toBeVisible();
  await page.getByRole("button", { name: "1,000 USDC on Local 1" }).click();
  await expect(page.getByTestId("total-usd")).toHaveText("$1,000.00");
  await project.give(31338, "USDC", "250.123456");
  await project.give(31338, "DAI", "0.123456789012345678");
  await page.getByRole("button", { name: "Refresh" }).click();
  await expect(page.getByTestId("total-usd")).toHaveText("$1,250.25");

  const table = page.getByRole("table", { name: "Balances by token, chain and wallet" });
  const line = (name: RegExp) =>
    table.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  await expect(table.getByRole("row")).toHaveCount(3);
  await expect(line(/^USDC/)).toContainText("1,250.12 USDC");
  // The keyboard opens a token's chains, and then a chain's wallets.
  await line(/^USDC/).getByRole("button").focus();
  await page.keyboard.press("ArrowRight");
  await expect(line(/^Local 2/)).toContainText("250.12 USDC");
  await line(/^Local 2/)
    .getByRole("button")
    .focus();
  await page.keyboard.press("Enter");
  await expect(line(/^Treasury/)).toContainText("250.12 USDC");
  await expect(table.getByRole("row")).toHaveCount(6);
  await line(/^USDC/).getByRole("button").first().focus();
  await page.keyboard.press("ArrowLeft");
  await expect(table.getByRole("row")).toHaveCount(3);
  // A rounded amount shows all its digits on focus and hover.
  const rounded = line(/^DAI/).locator("[tabindex]").filter({ hasText: "0.12 DAI" });
  await rounded.focus();
  await expect(page.getByText("0.123456789012345678 DAI").first()).toBeVisible();
  await page.keyboard.press("Escape");
  // Repeats the hover, because a chart that loads in the meantime may move the text away from the
  // pointer.
  await expect(async () => {
    await page.mouse.move(0, 0);
    await rounded.hover();
    await expect(page.getByText("0.123456789012345678 DAI").first()).toBeVisible({
      timeout: 2_000,
    });
  }).toPass();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await rounded.focus();
  await page.keyboard.press("ControlOrMeta+c");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    "0.123456789012345678",
  );
  await expect(line(/^USDC/)).toContainText("100.0 %");
  expect(await axeFaults(page)).toEqual([]);

  await page.getByRole("button", { name: "Hide amounts" }).click();
  await expect(table).not.toContainText("250.12");
  await expect(page.getByTestId("total-usd")).not.toContainText("1,250");
  await page.reload();
  await expect(page.getByTestId("total-usd")).toContainText("hidden");
  expect(await axeFaults(page)).toEqual([]);
  await page.goto("/");
  await expect(
    page.getByRole("region", { name: "Balances" }).getByText("hidden").first(),
  ).toBeAttached();
  await expect(page.getByRole("main")).not.toContainText("1,250");
  await page.getByRole("button", { name: "Show amounts" }).click();
  await expect(page.getByRole("main")).toContainText("$1,250.25");
});

test("a row of a balance leads to a swap, a transfer and an address that know its token and chain", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31338, "DAI", "70");
  const open = async (name: string): Promise<void> => {
    await page.goto("/balances");
    const table = page.getByRole("table", { name: "Balances by token, chain and wallet" });
    await table.getByRole("row", { name: /^DAI/ }).getByRole("button").first().focus();
    await page.keyboard.press("ArrowRight");
    await table
      .getByRole("row", { name: /^Local 2/ })
      .getByRole("link", { name, exact: true })
      .click();
  };
  await open("Swap DAI");
  await expect(page.getByLabel("Source 1 token", { exact: true })).toHaveText("DAI on Local 2");
  await open("Send DAI");
  await expect(page.getByLabel("Token", { exact: true })).toContainText("DAI");
  await expect(page.getByLabel("From chain", { exact: true })).toContainText("Local 2");
  await open("Receive DAI");
  await expect(page.getByLabel("Token", { exact: true })).toContainText("DAI");
  await expect(page.getByLabel("Chain", { exact: true })).toContainText("Local 2");
});

test("a chain that does not answer is named, with what is missing; history is drawn once there is some", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "10");
  await page.route("**/api/balances/unified", async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as Record<string, unknown>;
    const stale = [{ chainId: 31339, reason: "The chain does not answer.", lastSeenAt: null }];
    await route.fulfill({ response: answer, json: { ...body, stale } });
  });
  await page.route("**/api/balances/history?*", (route) =>
    route.fulfill({
      json: {
        data: [0, 1, 2].map((hour) => ({
          takenAt: new Date(Date.UTC(2026, 0, 1, hour)).toISOString(),
          totalUsd: String(hour + 7),
          assets: [
            { assetId: "usdc", token: "USDC", amount: String(hour + 7), usd: String(hour + 7) },
          ],
        })),
      },
    }),
  );
  await page.goto("/balances");
  await expect(page.getByText("Local 3 is not up to date")).toBeVisible();
  await expect(page.getByText(/its balances are missing from all sums/)).toBeVisible();
  await page.getByText("The same as a table").click();
  await expect(
    page.getByRole("region", { name: "History as a table" }).getByText("$9.00"),
  ).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  // A request of the page may still be in progress.
  await page.unrouteAll({ behavior: "ignoreErrors" });
});
