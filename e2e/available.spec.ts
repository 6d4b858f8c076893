import { expect, test, type Page } from "./support/test";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
const RECIPIENT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const RESERVES_TIMEOUT_MS = 30_000;

/** 1,000 USDC on chain, of which accounts are owed 394.50. */
const TOTAL = "1,000.00";
const BACKS = "394.50";
const AVAILABLE = "605.50";

const fill = async (project: TestProject): Promise<void> => {
  const { api } = project;
  await project.give(CHAIN, "USDC", "1000");
  const account = await api.call(createGlobalAccount, {
    body: { currency: "USDC", name: "Payroll" },
  });
  await expect(async () => {
    await api.call(fundGlobalAccount, {
      params: { id: account.id },
      body: { amount: "394.5", currency: account.assetId },
    });
  }).toPass({ timeout: RESERVES_TIMEOUT_MS });
};

/** Where each page shows how much USDC may be moved. */
const PLACES: readonly (readonly [
  path: string,
  place: (page: Page) => ReturnType<Page["locator"]>,
])[] = [
  [
    "/",
    (page) =>
      page.getByRole("region", { name: "Balances" }).getByRole("row", { name: /^USDC/ }),
  ],
  ["/", (page) => page.getByRole("region", { name: "Total" })],
  [
    "/balances",
    (page) =>
      page
        .getByRole("table", { name: "Balances by token, chain and wallet" })
        .getByRole("row", { name: /^USDC/ })
        .first(),
  ],
  ["/wallets", (page) => page.getByRole("main").getByRole("row", { name: /^USDC/ }).first()],
  ["/reserves", (page) => page.getByRole("main")],
  ["/transfer?token=USDC&chain=31337", (page) => page.getByRole("main")],
];

test("every page says the same of how much may be moved, and none forgets what accounts are owed", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await fill(project);
  for (const [path, place] of PLACES) {
    await page.goto(path);
    await expect(place(page), path).toContainText(AVAILABLE, { timeout: 15_000 });
  }
  await page.goto("/");
  const total = page.getByRole("region", { name: "Total" });
  await expect(total).toContainText(TOTAL);
  await expect(total).toContainText(BACKS);
  const row = page
    .getByRole("region", { name: "Balances" })
    .getByRole("row", { name: /^USDC/ });
  await expect(row).toContainText(BACKS);
});

/** Where the pages that spend USDC show how much they may. */
const FORMS: readonly (readonly [
  path: string,
  place: (page: Page) => Promise<ReturnType<Page["locator"]>>,
])[] = [
  [
    "/payouts/new?chain=31337",
    async (page) => {
      await page.getByRole("button", { name: "Type a row" }).click();
      await page.getByLabel("Row 1 recipient").fill(RECIPIENT);
      await page.getByLabel("Row 1 amount").fill("1");
      return page.getByRole("region", { name: "Total", exact: true });
    },
  ],
  ["/private/shield", (page) => Promise.resolve(page.getByRole("main"))],
];

test("New payout and Shield offer what the overview says, without what accounts are owed", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await fill(project);
  for (const [path, place] of FORMS) {
    await page.goto(path);
    await expect(await place(page), path).toContainText(AVAILABLE);
  }
});
