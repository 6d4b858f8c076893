import { expect, test } from "./support/test";
import { getOperation } from "@/lib/contracts/operations";
import { axeFaults } from "./support/axe";
import { changeRows } from "./support/database";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const PAYMENT = `0x${"ab".repeat(32)}`;

/**
 * Changes a delivered bridge leg into one whose refund is in doubt. The local bridge always pays
 * clear refunds, so the test changes the rows; refund-decision.int.test.ts produces real doubts.
 */
const doubtRefund = async (operationId: string): Promise<void> => {
  const doubt = {
    chainId: 31337,
    txHash: PAYMENT,
    blockNumber: "12",
    logIndex: 0,
    paidBase: "45000000",
    reason: "It pays more than this deposit, and other deposits of the wallet are open.",
  };
  const attention = { doubts: [doubt], setAside: [], waitUntil: null, decided: null };
  await changeRows(
    "UPDATE operation SET status = 'processing', sub_status = 'needs_attention' WHERE id = $1",
    [operationId],
  );
  await changeRows(
    "UPDATE operation_leg SET state = 'needs_attention', refund_attention = $2::jsonb WHERE operation_id = $1",
    [operationId, JSON.stringify(attention)],
  );
};

test("a refund in doubt shows what is known, checks the named transaction, and takes a person's decision", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "100");
  const move = {
    fromChainId: 31337,
    toChainId: 31339,
    token: "USDC",
    amount: "20",
    toAddress: ADA,
  };
  const id = await project.execute(await project.prepareTransfer(move));
  expect(await project.untilFinal(id)).toBe("completed");
  await doubtRefund(id);

  await page.goto(`/activity/${id}`);
  const form = page.getByRole("region", { name: "Decide about the refund" });
  await expect(form.getByText("A person has to decide")).toBeVisible();
  const payments = form.getByRole("list", { name: "Payments that may be the refund" });
  await expect(payments).toContainText(/45\.00\s*USDC/);
  await expect(payments).toContainText("other deposits of the wallet are open");
  expect(await axeFaults(page)).toEqual([]);

  const named = form.getByLabel("Transaction that paid it back");
  await expect(named).toHaveValue(PAYMENT);
  await named.fill("0x12");
  await form.getByRole("button", { name: "It was refunded" }).click();
  await expect(
    form.getByText("Enter a transaction hash: 0x and 64 hexadecimal digits"),
  ).toBeVisible();
  const { legs } = await project.api.call(getOperation, { params: { id } });
  await named.fill(legs[0]?.txHash ?? "");
  await form.getByRole("button", { name: "It was refunded" }).click();
  await expect(form.getByText(/Nothing was changed\. Check the hash/)).toBeVisible();

  await form.getByRole("button", { name: "Not refunded: keep waiting" }).click();
  await expect(form).toBeHidden();
  const decided = await project.api.call(getOperation, { params: { id } });
  expect(decided.legs[0]?.state).toBe("refunding");
});
