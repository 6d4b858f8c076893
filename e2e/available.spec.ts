import { expect, test, type Page } from "./support/test";
import { approveOperation, getOperation } from "@/lib/contracts/operations";
import { shield } from "@/lib/contracts/privacy";
import { requestOtp } from "@/lib/contracts/swap";
import { takeOnChain } from "./support/chain";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const RESERVES_TIMEOUT_MS = 30_000;

/** 1,000 USDC on chain, of which accounts are owed 394.50 and a movement that waits holds 80. */
const TOTAL = "1,000.00";
const BACKS = "394.50";
const RESERVED = "80.00";
const AVAILABLE = "525.50";
/** What would be shown if the held or the owed money were forgotten. */
const WRONG = ["605.50", "920.00", "1000.00"];

const fill = async (project: TestProject): Promise<void> => {
  const { api, treasury } = project;
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
  await api.call(swapAndTransfer, {
    body: {
      fromWalletId: treasury.id,
      fromChainId: CHAIN,
      toChainId: CHAIN,
      fromToken: "USDC",
      toToken: "USDC",
      amount: "80",
      recipient: ADA,
    },
  });
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
  ["/private/shield", (page) => page.getByRole("main")],
  ["/payouts/new", (page) => page.getByRole("main")],
];

test("every page says the same of how much may be moved, and none forgets what is held or owed", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await fill(project);
  for (const [path, place] of PLACES) {
    await page.goto(path);
    await expect(place(page), path).toContainText(AVAILABLE, { timeout: 15_000 });
    for (const wrong of WRONG) await expect(place(page), path).not.toContainText(wrong);
  }
  await page.goto("/");
  const total = page.getByRole("region", { name: "Total" });
  await expect(total).toContainText(TOTAL);
  await expect(total).toContainText(BACKS);
  await expect(total).toContainText(RESERVED);
  const row = page
    .getByRole("region", { name: "Balances" })
    .getByRole("row", { name: /^USDC/ });
  await expect(row).toContainText(RESERVED);
});

test("a shield that the reserves refuse after its approval says so everywhere, and that the money is in the treasury", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  const { api, treasury } = project;
  await project.give(CHAIN, "USDC", "600");
  const { operationId, transferId } = await api.call(shield, {
    body: { chainId: CHAIN, token: "USDC", amount: "560" },
  });
  await takeOnChain(page, CHAIN, {
    symbol: "USDC",
    amount: "500",
    from: treasury.address,
    to: ADA,
  });
  await api.call(requestOtp, { body: { operationId } });
  // The refusal comes with the approval, or after it; the operation ends in both cases.
  await api
    .call(approveOperation, {
      params: { id: operationId },
      body: { otp: await project.code() },
    })
    .catch(() => undefined);
  expect(await project.untilFinal(operationId)).toBe("failed");
  const { failure } = await api.call(getOperation, { params: { id: operationId } });
  expect(failure?.code).toBe("insufficient_reserves");
  for (const path of [`/private/${transferId}`, `/activity/${operationId}`]) {
    await page.goto(path);
    const main = page.getByRole("main");
    await expect(main, path).toContainText("in the treasury");
    for (const false_ of ["Expired", "Nobody approved", "in the private wallet's notes"])
      await expect(main, path).not.toContainText(false_);
  }
});
