import { expect, test, type Page } from "./support/test";
import { gridOf } from "@/components/features/payouts/grid-layout";
import { approvePayout, createWalletsPayout, getPayout } from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import { axeFaults } from "./support/axe";
import { changeRows } from "./support/database";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const paidPayout = async ({ api, code }: TestProject): Promise<string> => {
  const transfers = [{ address: ADA, amount: "3.25", token: "USDC" }];
  const body = { chainId: 31337, transfers, reference: "Refund of June" };
  const id = String((await api.call(createWalletsPayout, { body })).payoutId);
  await api.call(requestOtp, { body: { payoutId: id } });
  await api.call(approvePayout, { params: { id }, body: { otp: await code() } });
  await expect(async () => {
    expect((await api.call(getPayout, { params: { id } })).status).toBe("completed");
  }).toPass({ timeout: 60_000 });
  return id;
};

/**
 * Removes the results of executed payouts from the rows, as a restore from a backup would.
 * withdrawal-doubts.int.test.ts shows how this state arises.
 */
const lose = async (id: string): Promise<void> => {
  const failure = {
    code: "source_replaced",
    message: "The other one may have paid them.",
    retryable: false,
  };
  const lost =
    "state = 'failed', failure = $2::jsonb, user_op_hash = NULL, tx_hash = NULL, version = version + 1";
  await changeRows(`UPDATE wallet_payout_batch SET ${lost} WHERE payout_id = $1`, [
    id,
    JSON.stringify(failure),
  ]);
  const ended = "status = 'failed', items_completed = 0, items_failed = 1, failure = $2::jsonb";
  await changeRows(`UPDATE payout SET ${ended} WHERE id = $1`, [id, JSON.stringify(failure)]);
};

test("a payment in doubt is called so on the overview, in the inbox and on its page, where the chain decides it", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "100");
  const id = await paidPayout(project);
  await lose(id);

  await page.goto("/");
  const waiting = page.getByRole("region", { name: "Waiting for you" });
  await expect(waiting.getByText("Payment in doubt")).toBeVisible();
  await expect(waiting.getByText("Do not pay it again before you have decided")).toBeVisible();
  await expect(waiting.getByRole("link", { name: /^Review Was it paid\?/ })).toHaveAttribute(
    "href",
    `/payouts/${id}#doubt`,
  );
  await page.goto("/payouts");
  const line = page.getByRole("row").filter({ hasText: "Refund of June" });
  await expect(line.getByText("In doubt, needs a decision")).toBeVisible();
  await expect(line.getByText("Failed")).toHaveCount(0);
  await page.goto("/inbox");
  const item = page.getByRole("listitem").filter({ hasText: "Refund of June" });
  await expect(item.getByText("Payment in doubt")).toBeVisible();
  await expect(item.getByText("Failed")).toHaveCount(0);
  await item.getByRole("link", { name: /^Was it paid\? Payout “Refund of June”/ }).click();
  await expect(page).toHaveURL(`/payouts/${id}#doubt`);
  const card = page.getByRole("region", { name: "Was it paid?" });
  await expect(card.getByText("Do not pay them again before this is decided.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Retry failed rows" })).toHaveCount(0);
  const picture = page.getByRole("region", { name: "Progress" });
  await expect(picture.getByText("0 of 1 row paid, 1 in doubt.")).toBeVisible();
  await expect(picture.getByRole("list", { name: "Rows by state" })).toHaveText("In doubt 1");
  const rows = page.getByRole("region", { name: "Rows", exact: true });
  await rows.getByRole("button", { name: "1 in doubt, show only these" }).click();
  await expect(rows.getByRole("row", { name: /3\.25/ })).toContainText("In doubt");
  await expect(rows.getByText("Failed")).toHaveCount(0);
  expect(await axeFaults(page)).toEqual([]);
  await card.getByRole("button", { name: "Check the chain" }).click();
  await expect(card).toHaveCount(0);
  await expect(page.getByText("1 of 1 row paid.").first()).toBeVisible();
  expect(await project.api.call(getPayout, { params: { id } })).toMatchObject({
    status: "completed",
    failure: null,
  });
});

/** More rows than the page draws as separate elements. */
const MANY = 2_400;

/** Colours of one cell of the canvas, in its middle and at its edge, as `r,g,b`. */
const cellAt = async (page: Page, row: number): Promise<{ middle: string; edge: string }> => {
  const canvas = page.locator("canvas");
  const { columns, pitch, size } = gridOf(
    MANY,
    await canvas.evaluate((element: HTMLCanvasElement) => element.width),
  );
  const corner = { x: (row % columns) * pitch, y: Math.floor(row / columns) * pitch };
  const half = Math.floor(size / 2);
  const [middle = "", edge = ""] = await canvas.evaluate(
    (element: HTMLCanvasElement, places) =>
      places.map(({ x, y }) =>
        [...(element.getContext("2d")?.getImageData(x, y, 1, 1).data ?? [])]
          .slice(0, 3)
          .join(","),
      ),
    [
      { x: corner.x + half, y: corner.y + half },
      { x: corner.x, y: corner.y + half },
    ],
  );
  return { middle, edge };
};

const colorOf = (page: Page, name: string): Promise<string> =>
  page.evaluate((property) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(property).trim();
    return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16)).join(",");
  }, name);

test("in the picture of thousands of rows those in doubt are hollow, and a change of the theme changes every cell", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "5000");
  const { api } = project;
  const transfers = Array.from({ length: MANY }, (_, row) => ({
    address: `0x${String(row + 1).padStart(40, "a")}`,
    amount: "1.5",
    token: "USDC",
  }));
  const { payoutId } = await api.call(createWalletsPayout, {
    body: { chainId: 31337, transfers },
  });
  const id = String(payoutId);
  const failure = {
    code: "source_replaced",
    message: "The other one may have paid them.",
    retryable: false,
  };
  await changeRows(
    "UPDATE wallet_payout_batch SET state = 'failed', failure = $2::jsonb WHERE payout_id = $1 AND number = 0",
    [id, JSON.stringify(failure)],
  );
  await changeRows(
    "UPDATE payout SET status = 'failed', sub_status = 'full', items_failed = 400, failure = $2::jsonb WHERE id = $1",
    [id, JSON.stringify(failure)],
  );
  await page.goto(`/payouts/${id}`);
  const picture = page.getByRole("region", { name: "Progress" });
  await expect(picture.getByText(/in doubt/).first()).toBeVisible();
  const expectCells = async (): Promise<void> => {
    const [warning, tint, queued] = [
      await colorOf(page, "--warning"),
      await colorOf(page, "--warning-tint"),
      await colorOf(page, "--border"),
    ];
    await expect.poll(() => cellAt(page, 0)).toEqual({ middle: tint, edge: warning });
    await expect.poll(() => cellAt(page, MANY - 1)).toEqual({ middle: queued, edge: queued });
  };
  await expectCells();
  const light = await colorOf(page, "--warning");
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect.poll(() => colorOf(page, "--warning")).not.toBe(light);
  await expectCells();
});
