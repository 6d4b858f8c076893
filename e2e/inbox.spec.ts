import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { cancelOperation } from "@/lib/contracts/operations";
import { expect, openPage, test, type Locator, type Page } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import { typeCode } from "./support/person";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";
import { demandVotes, joins } from "./support/votes";

const CHAIN = 31337;
/** A new address, so that no other test pays it in the meantime. */
const RECIPIENT = privateKeyToAccount(generatePrivateKey()).address;

const MAKERS_ADVICE =
  "You asked for it, so other people have to approve it. You can cancel it. 0 of 1 approval so far.";

/** Title of a payment to an address without a name. */
const PAYMENT = /^Pay 0x/;

/** Expects the receipt that the maker saw: picture, recipient, minimum, and the maker's name. */
const expectReceipt = async (place: Locator, makerEmail: string): Promise<void> => {
  await expect(place.getByLabel("Flow of the money").first()).toBeVisible();
  await expect(place.getByText("Nothing was sent to this address yet")).toBeVisible();
  await expect(place.getByText("Minimum received").first()).toBeVisible();
  await expect(place.getByText(makerEmail).first()).toBeVisible();
  await expect(place).not.toContainText("usr_");
};

const PHONE = { width: 390, height: 844 } as const;
/** Targets on phones are at least this high. */
const TARGET_MIN = 44;

/**
 * On a phone the vote is at the bottom of the screen wherever the page is scrolled to, large enough
 * for a thumb; in its dialog the proof is there too.
 */
const expectThumbReach = async (page: Page): Promise<void> => {
  const before = page.viewportSize();
  await page.setViewportSize(PHONE);
  const approve = page.getByRole("group", { name: "Vote" }).getByRole("button", {
    name: "Approve",
  });
  for (const edge of ["top", "bottom"] as const) {
    await page.evaluate(
      (where) => window.scrollTo(0, where === "top" ? 0 : document.body.scrollHeight),
      edge,
    );
    const box = await approve.boundingBox();
    expect(box?.height, edge).toBeGreaterThanOrEqual(TARGET_MIN);
    expect(box?.y, edge).toBeGreaterThan((PHONE.height * 2) / 3);
    expect((box?.y ?? 0) + (box?.height ?? 0), edge).toBeLessThanOrEqual(PHONE.height);
  }
  await settle(page);
  // Axe looks at other widths too, and leaves the window at one of them.
  await checkLooks(page, "decision on a phone");
  await page.setViewportSize(PHONE);
  await approve.click();
  const dialog = page.getByRole("dialog", { name: /^Approve: / });
  // The code was mailed when the dialog opened.
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  const proof = dialog.getByRole("button", { name: "Approve", exact: true });
  await expect(proof).toBeInViewport({ ratio: 1 });
  expect((await proof.boundingBox())?.y).toBeGreaterThan(PHONE.height / 2);
  await checkLooks(page, "vote on a phone");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  if (before !== null) await page.setViewportSize(before);
};

/** The person who asked reads that others decide, has no vote, and gets no advice to type a code. */
const expectMakersView = async (page: Page, operationId: string): Promise<void> => {
  await page.goto(`/activity/${operationId}`);
  await expect(page.getByText(MAKERS_ADVICE)).toBeVisible();
  await expect(page.getByText("Approve it with")).toHaveCount(0);
  await page.goto("/inbox");
  const others = page.getByRole("list", { name: "Waits for others" });
  await expect(others.getByRole("listitem")).toContainText(MAKERS_ADVICE);
  await expect(page.getByText("Nothing waits for you")).toBeVisible();
  await expect(page.getByRole("button", { name: /^(Approve|Decline)/ })).toHaveCount(0);
  await page.goto(`/activity/${operationId}`);
  await page.getByRole("link", { name: "See the approvals" }).click();
  await expect(
    page.getByRole("heading", { name: /^Transfer of 12.50 USDC on / }),
  ).toBeVisible();
  await page.getByText("The exact text that is approved").click();
  await expect(page.getByRole("list", { name: "What is approved" })).toContainText(RECIPIENT);
  // The person who asked for the payment has no vote.
  await expect(page.getByRole("region", { name: "Votes" })).toContainText(
    "Nobody has voted yet",
  );
  await expect(page.getByRole("region", { name: "Your vote" })).toHaveCount(0);
};

test("a transfer of one person waits in the inbox until another person approves it", async ({
  page,
  browser,
}) => {
  test.setTimeout(240_000);
  await signIn(page.request);
  const owner = await projectOf(page);
  await owner.give(CHAIN, "USDC", "50");
  const guest = await openPage(browser);
  await signIn(guest.request);
  const own = await projectOf(guest);
  await joins(page, owner, guest, own.email);
  await demandVotes(page);
  const before = await balanceOnChain(page, CHAIN, "USDC", RECIPIENT);

  const transfer = {
    fromChainId: CHAIN,
    toChainId: CHAIN,
    toAddress: RECIPIENT,
    token: "USDC",
    amount: "12.5",
  };
  const operationId = await owner.execute(await owner.prepareTransfer(transfer));
  await expectMakersView(page, operationId);

  await guest.goto(`/activity/${operationId}`);
  await expect(guest.getByText("Approve or decline it. 0 of 1 approval so far.")).toBeVisible();
  await expect(guest.getByRole("link", { name: "Approve or decline" })).toBeVisible();
  await guest.goto("/inbox");
  const row = guest.getByRole("list", { name: "Waiting for you" }).getByRole("listitem");
  await expect(row).toContainText("12.50 USDC");
  await expect(row).toContainText("0 of 1 so far");
  await expect(row).toContainText(owner.email);
  await expect(guest.getByRole("main")).not.toContainText(/usr_|key_/);
  await settle(guest);
  await checkLooks(guest, "inbox with a decision");
  await row.getByRole("link", { name: PAYMENT }).click();
  const receipt = guest.getByRole("region", { name: "What is approved" });
  await expectReceipt(receipt, owner.email);
  await expect(receipt).toContainText(/Available after\s*37\.50 ?USDC on/);
  const changes = receipt.getByRole("table", { name: "Simulated balance changes" });
  await expect(changes).toContainText(/−12\.50 ?USDC/);
  await settle(guest);
  await checkLooks(guest, "decision");
  await expectThumbReach(guest);
  const card = guest.getByRole("region", { name: "Your vote" });
  await card.getByRole("button", { name: "Decline" }).click();
  const declining = guest.getByRole("dialog", { name: /^Decline: / });
  await expect(declining.getByText(/^Code sent to/)).toBeVisible();
  // A reload keeps the chosen vote, and continues where the mailed code is entered. The page writes
  // the choice to its address with a short delay.
  await expect(guest).toHaveURL(/[?&]vote=decline/);
  await guest.reload();
  await expect(declining).toContainText("One vote to decline cancels the payment");
  await expect(declining.getByText(/^Code sent to/)).toBeVisible();
  await guest.keyboard.press("Escape");
  await expect(declining).toHaveCount(0);
  await card.getByRole("button", { name: "Approve" }).click();
  const approving = guest.getByRole("dialog", { name: /^Approve: / });
  await expect(approving.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(guest, await own.code());
  await expect(guest.getByText("Approved", { exact: true }).first()).toBeVisible();
  await expect(receipt).not.toContainText("Available after");
  expect(await owner.untilFinal(operationId)).toBe("completed");
  const after = await balanceOnChain(page, CHAIN, "USDC", RECIPIENT);
  expect(Number(after) - Number(before)).toBeCloseTo(12.5, 6);

  // Everybody who may vote got a mail, which links to the request; the list is empty again.
  const mail = await page.request.get("/api/dev/inbox", {
    params: { to: own.email, limit: 20 },
  });
  const text = await mail.text();
  expect(text).toContain("A payment waits for your approval");
  expect(text).toMatch(/\/inbox\/dec_/);
  await guest.goto("/inbox");
  await expect(guest.getByText("Nothing waits for you")).toBeVisible();
});

test("a person approves and declines in the rows, and several requests with one code", async ({
  page,
  browser,
}) => {
  test.setTimeout(300_000);
  await signIn(page.request);
  const owner = await projectOf(page);
  await owner.give(CHAIN, "USDC", "50");
  const guest = await openPage(browser);
  await signIn(guest.request);
  const own = await projectOf(guest);
  await joins(page, owner, guest, own.email);
  await demandVotes(page);
  const ids: string[] = [];
  for (const amount of ["1", "2", "3", "4", "5"])
    ids.push(
      await owner.execute(
        await owner.prepareTransfer({
          fromChainId: CHAIN,
          toChainId: CHAIN,
          toAddress: RECIPIENT,
          token: "USDC",
          amount,
        }),
      ),
    );
  await guest.goto("/inbox");
  const list = guest.getByRole("list", { name: "Waiting for you" });
  await expect(list.getByRole("listitem")).toHaveCount(5);
  const rowOf = (amount: string) =>
    list.getByRole("listitem").filter({ hasText: `${amount}.00 USDC` });

  // One vote to decline in the row, with the receipt and the proof in a dialog.
  await rowOf("5").getByRole("button", { name: "Decline" }).click();
  const declining = guest.getByRole("dialog", { name: /^Decline: Pay / });
  await expectReceipt(declining, owner.email);
  await checkLooks(guest, "dialog of one vote");
  await expect(declining.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(guest, await own.code());
  await expect(declining).toHaveCount(0);
  await expect(list.getByRole("listitem")).toHaveCount(4);

  // Several with one code, bound to all of them. A reload keeps the selection.
  for (const amount of ["1", "2", "3"]) await rowOf(amount).getByRole("checkbox").check();
  await expect(guest).toHaveURL(/[?&]selected=/);
  await guest.reload();
  await guest.getByRole("button", { name: "Approve selected (3)" }).click();
  const several = guest.getByRole("dialog", { name: "Approve 3 requests" });
  const listed = several.getByRole("list", { name: "Selected requests" });
  await expect(listed.getByRole("listitem")).toHaveCount(3);
  for (const amount of ["1.00", "2.00", "3.00"])
    await expect(listed).toContainText(`${amount} USDC`);
  await expect(listed).toContainText(owner.email);
  await expect(listed).toContainText(RECIPIENT);
  await checkLooks(guest, "dialog of several votes");
  await expect(several.getByText(/^Code sent to/)).toBeVisible();
  const code = await own.code();
  // One of them ends while the code is typed: it is named, and the others are counted.
  await owner.api.call(cancelOperation, { params: { id: ids[2] ?? "" } });
  await typeCode(guest, code);
  await expect(several).toContainText("One vote was not counted. The others were.");
  await expect(several).toContainText("was cancelled");
  await several.getByRole("button", { name: "Close", exact: true }).last().click();
  await expect(list.getByRole("listitem")).toHaveCount(1);
  const ended = await Promise.all(ids.slice(0, 2).map((id) => owner.untilFinal(id)));
  expect(ended).toEqual(["completed", "completed"]);

  // The overview has the same actions.
  await guest.goto("/");
  const waiting = guest.getByRole("region", { name: "Waiting for you" });
  await expect(waiting).toContainText("4.00 USDC");
  await expect(waiting).toContainText(owner.email);
  await waiting.getByRole("button", { name: /^Approve Pay / }).click();
  const approving = guest.getByRole("dialog", { name: /^Approve: Pay / });
  await expect(approving.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(guest, await own.code());
  await expect(waiting).toContainText("Nothing waits for you.");
  expect(await owner.untilFinal(ids[3] ?? "")).toBe("completed");
});
