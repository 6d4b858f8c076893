// The pages that show one movement agree on what happened to it and where its money is.
import { expect, test, type Page } from "./support/test";
import { approveOperation, getOperation } from "@/lib/contracts/operations";
import { approvePayout, createWalletsPayout } from "@/lib/contracts/payouts";
import { getPrivateBalances, getPrivateTransfer, shield } from "@/lib/contracts/privacy";
import { requestOtp } from "@/lib/contracts/swap";
import { changeRows } from "./support/database";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
/** A proof or an approval of the pool takes seconds on all cores, which other tests use too. */
const SETTLE_MS = 60_000;

const shieldOf = (project: TestProject, amount: string) =>
  project.api.call(shield, { body: { chainId: CHAIN, token: "USDC", amount } });

const approve = async (project: TestProject, operationId: string): Promise<void> => {
  await project.api.call(requestOtp, { body: { operationId } });
  await project.api.call(approveOperation, {
    params: { id: operationId },
    body: { otp: await project.code() },
  });
};

const REFUSED = "It was approved, and refused when it was to start. Nothing was sent.";
/** Other ends, and a place that the money never reached. */
const OTHER_ENDS =
  /Expired|Nobody approved|private wallet's notes|owns a note|Failed, waiting/i;

test("a shield that the reserves refuse after its approval ends for that reason on every page", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "500");
  const { operationId, transferId } = await shieldOf(project, "300");
  // The last vote of several people leads here, when accounts rely on the money by then.
  await changeRows(
    "UPDATE operation SET status = 'failed', failure = $2::jsonb, expires_at = NULL WHERE id = $1",
    [
      operationId,
      JSON.stringify({
        code: "insufficient_reserves",
        message: "Accounts rely on 350 USDC of it. Nothing was sent.",
        retryable: true,
      }),
    ],
  );

  const { outcome } = await project.api.call(getOperation, { params: { id: operationId } });
  const own = await project.api.call(getPrivateTransfer, { params: { id: transferId } });
  expect(outcome.sentence).toBe(REFUSED);
  expect(own.outcome).toEqual(outcome);
  const main = page.getByRole("main");
  for (const path of [`/private/${transferId}`, `/activity/${operationId}`]) {
    await page.goto(path);
    await expect(main, path).toContainText(REFUSED);
    await expect(main, path).toContainText("the money is in the source wallet");
    await expect(main, path).not.toContainText(OTHER_ENDS);
  }
  await page.goto("/activity");
  const row = page
    .getByRole("table", { name: "Activity" })
    .getByRole("row")
    .filter({ hasText: /^Shield/ });
  await expect(row).toContainText("Failed");
  await expect(row).not.toContainText(OTHER_ENDS);
  await page.goto("/inbox");
  await expect(
    page.getByRole("link", { name: "Shield of 300.00 USDC failed", exact: true }),
  ).toBeVisible();
  await expect(main).not.toContainText(OTHER_ENDS);
});

test("the note of a shield has one amount: before it on its form, after it on its page and among the balances", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  const { data } = await project.api.call(getPrivateBalances, {});
  const pool = data.find(({ chainId, token }) => chainId === CHAIN && token.symbol === "USDC");
  const kept = 50 * (1 - (pool?.shieldFeeBps ?? 0) / 10_000);
  const note = kept.toFixed(2);
  expect(note).not.toBe("50.00");

  await page.goto("/private/shield");
  await page.getByLabel("Amount", { exact: true }).fill("50");
  await expect(page.getByRole("list", { name: "Your view" })).toContainText(note);

  const { operationId, transferId } = await shieldOf(project, "50");
  await approve(project, operationId);
  expect(await project.untilFinal(operationId)).toBe("completed");
  await page.goto(`/private/${transferId}`);
  await expect(page.getByRole("list", { name: "Your view" })).toContainText(note);
  await page.goto(`/activity/${operationId}`);
  await expect(page.getByRole("main")).toContainText(note);
  await expect(async () => {
    await page.goto("/private");
    await expect(page.getByRole("table", { name: "Private balances" })).toContainText(note);
  }).toPass({ timeout: SETTLE_MS });
});

/** Notes each time that the page says "Completed" while a row is not paid. */
const watchRows = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const found: string[] = [];
    Object.assign(window, { disagreements: found });
    new MutationObserver(() => {
      const isCompleted = /\bCompleted\b/.test(
        document.querySelector("main header")?.textContent ?? "",
      );
      const rows = document.querySelector("[aria-label='Rows']")?.textContent ?? "";
      if (isCompleted && /Queued|Sent\b|Confirmed/.test(rows)) found.push(rows);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });

test("a payout is never completed above a row that is still queued", async ({ page }) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  const payout = await project.api.call(createWalletsPayout, {
    body: {
      chainId: CHAIN,
      transfers: Array.from({ length: 40 }, (_, index) => ({
        address: `0x${(BigInt(Date.now()) * 100n + BigInt(index)).toString(16).padStart(40, "c")}`,
        token: "USDC",
        amount: "1",
      })),
    },
  });
  const payoutId = payout.payoutId ?? "";
  await page.goto(`/payouts/${payoutId}`);
  const rows = page.getByRole("table", { name: "Rows" });
  await expect(rows.getByText("Queued").first()).toBeVisible();
  await watchRows(page);
  await project.api.call(requestOtp, { body: { payoutId } });
  await project.api.call(approvePayout, {
    params: { id: payoutId },
    body: { otp: await project.code() },
  });
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: SETTLE_MS,
  });
  await expect(rows.getByText("Paid").first()).toBeVisible();
  expect(await page.evaluate(() => Reflect.get(window, "disagreements") as string[])).toEqual(
    [],
  );
});
