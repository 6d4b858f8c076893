import { createPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { expect, test } from "./support/test";
import { checkLooks } from "./support/axe";
import { typeCode } from "./support/person";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
/** More rows than a schedule's page shows at first. */
const ROWS = 52;
const NAMED = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const recipient = (row: number): string =>
  row === 0 ? NAMED : `0x${String(row).padStart(40, "5")}`;

test("a schedule that waits shows its approver whom it pays: by name, by whole address and with the amount", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const { api, code, addApproved } = await projectOf(page);
  await addApproved({ name: "Studio North", address: NAMED });
  const { id: scheduleId } = await api.call(createPayoutSchedule, {
    body: {
      chainId: CHAIN,
      transfers: Array.from({ length: ROWS }, (_, row) => ({
        address: recipient(row),
        amount: String(row + 1),
        token: "USDC",
        ...(row === 0 ? { reference: "INV-7" } : {}),
      })),
      startsAt: new Date(Date.now() + 86_400_000).toISOString(),
      every: "month",
    },
  });
  await page.goto(`/payouts/schedules/${scheduleId}`);
  const rows = page
    .getByRole("region", { name: "Recipients of each run" })
    .getByRole("listitem");
  await expect(rows.first()).toContainText("Studio North");
  await expect(rows.first()).toContainText("INV-7");
  await expect(rows.first()).toContainText(/1\.00 ?USDC/);
  await expect(rows).toHaveCount(50);
  await page.getByRole("button", { name: "Show more (2 left)" }).click();
  await expect(rows).toHaveCount(ROWS);
  await expect(rows.last()).toContainText(/52\.00 ?USDC/);
  await checkLooks(page, "schedule");

  await page.getByRole("button", { name: "Review and approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Review the schedule" });
  await expect(
    dialog.getByRole("list", { name: "Recipients of each run" }).getByRole("listitem").first(),
  ).toContainText("Studio North");
  await checkLooks(page, "approval of the schedule");
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await code());
  await expect(page.getByText("Approved. It runs at its times.")).toBeVisible();
  await expect(page.getByRole("region", { name: "Runs", exact: true })).toBeVisible();
});
