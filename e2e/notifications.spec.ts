import { expect, test, type Page } from "./support/test";
import { approveOperation, cancelOperation } from "@/lib/contracts/operations";
import { requestOtp } from "@/lib/contracts/swap";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { checkLooks, settle } from "./support/axe";
import { choose } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
const RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

/** Creates a swap that waits for the person's code. Returns its id. */
const askForApproval = async ({ api, treasury }: TestProject): Promise<string> => {
  const move = {
    fromWalletId: treasury.id,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    fromToken: "USDC",
    toToken: "DAI",
  };
  const { operationId } = await api.call(swapAndTransfer, {
    body: { ...move, amount: "10", recipient: RECIPIENT },
  });
  return operationId;
};

const noticesTo = async (page: Page, to: string): Promise<number> => {
  const response = await page.request.get("/api/dev/inbox", { params: { to, limit: 100 } });
  const { data } = (await response.json()) as { data: { subject: string; text: string }[] };
  return data.filter(({ subject }) => subject.includes("waits for approval")).length;
};

test("an approval that waits makes the bell count; the panel links to it, and then it is read", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "50");
  await page.goto("/");
  await expect(page.getByRole("button", { name: "Notifications", exact: true })).toBeVisible();

  const first = await askForApproval(project);
  await page.getByRole("button", { name: "Notifications, 1 unread" }).click();
  const panel = page.getByRole("dialog", { name: "Newest notifications" });
  await settle(page);
  await checkLooks(page, "the panel of notifications");
  await panel.getByRole("link", { name: /^Swap and transfer waits for approval/ }).click();
  await expect(page).toHaveURL(new RegExp(`/activity/${first}$`));
  await expect(panel).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Notifications", exact: true })).toBeVisible();
  await expect.poll(() => noticesTo(page, project.email)).toBe(1);

  // With mail turned off, the next notification appears only in the dashboard.
  await page.goto("/settings/notifications");
  const card = page.getByRole("region", { name: "Notifications", exact: true });
  const saved = page.waitForResponse(
    (answer) => answer.request().method() === "PUT" && answer.ok(),
  );
  await choose(
    page,
    card.getByRole("combobox", { name: "An approval waits: mail" }),
    "No mail",
  );
  await saved;
  await expect(card.getByRole("combobox", { name: "An approval waits: mail" })).toHaveText(
    "No mail",
  );
  await page.reload();
  await expect(card.getByRole("combobox", { name: "An approval waits: mail" })).toHaveText(
    "No mail",
  );
  const second = await askForApproval(project);
  await expect(page.getByRole("button", { name: "Notifications, 1 unread" })).toBeVisible();
  expect(await noticesTo(page, project.email)).toBe(1);

  await page.goto("/notifications");
  const list = page.getByRole("main").getByRole("list", { name: "Notifications" });
  await expect(list.getByRole("listitem")).toHaveCount(2);
  await settle(page);
  await checkLooks(page, "/notifications");
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(list.getByRole("img", { name: "Unread" })).toHaveCount(0);
  // A notification whose approval ended says so.
  await project.api.call(cancelOperation, { params: { id: first } });
  await expect(list.getByText("Cancelled", { exact: true })).toHaveCount(1);
  await project.api.call(requestOtp, { body: { operationId: second } });
  const body = { otp: await project.code() };
  await project.api.call(approveOperation, { params: { id: second }, body });
  await expect(list.getByText("Approved", { exact: true })).toHaveCount(1);
  await expect(page.getByRole("button", { name: "Notifications", exact: true })).toBeVisible();
});
