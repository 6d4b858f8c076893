import { expect, test, type Page } from "./support/test";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { axeFaults } from "./support/axe";
import { chooseDestination, fillSource, openRecipient } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";
import { expectNoSidewaysScroll } from "./support/sizes";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** An address with the same first and last four digits as Ada's. */
const LIKE_ADA = `0x7099${"0".repeat(32)}79c8`;

/** Executes a swap from two chains to a third one. */
const swapOfTwo = async (project: TestProject, toAddress: string): Promise<string> => {
  const { api, treasury } = project;
  await project.give(31337, "USDC", "500");
  await project.give(31338, "USDC", "500");
  const from = [
    { address: treasury.address, chainId: 31337, token: "USDC", amount: "120" },
    { address: treasury.address, chainId: 31338, token: "USDC", amount: "80" },
  ];
  const body = { from, toChainId: 31339, toToken: "WETH", toAddress, slippageBps: 50 };
  const { quoteId } = await api.call(createQuote, { body });
  await api.call(requestOtp, { body: { quoteId } });
  await api.call(prepareSwap, { body: { quoteId, otp: await project.code() } });
  return (await api.call(executeSwap, { body: { quoteId } })).operationId;
};

const picture = (page: Page) => page.getByRole("figure", { name: "Flow of the money" });

test("an operation is drawn from its sources to its recipient, with names, and says the same in words", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.addApproved({ name: "Ada Lovelace", address: ADA });
  const id = await swapOfTwo(project, ADA);
  const inbox = await page.request.get("/api/dev/inbox", {
    params: { to: project.email, limit: 5 },
  });
  const mails = ((await inbox.json()) as { data: { text: string }[] }).data
    .map(({ text }) => text)
    .join("\n");
  expect(mails).toContain(`To: "Ada Lovelace", ${ADA}`);
  expect(mails).toContain(`on Local 1 from Treasury, ${project.treasury.address}`);
  await page.goto(`/activity/${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    /^200\.00 USDC → 0\.0\d+ WETH$/,
  );
  await expect(page.getByText(/^Swap, started by you/)).toBeVisible();
  expect(await project.untilFinal(id)).toBe("completed");

  const words = picture(page).getByRole("list", { name: "Flow of the money, in words" });
  await expect(words.getByRole("listitem")).toHaveText([
    /^120\.00 USDC from Treasury on Local 1 over .*Across.*: Arrived on Local 3\.$/,
    /^80\.00 USDC from Treasury on Local 2 over .*Across.*: Arrived on Local 3\.$/,
    /^To Ada Lovelace on Local 3: 0\.0\d+ WETH\.$/,
  ]);
  // A part of the picture shows its transactions while it has the focus.
  await picture(page)
    .getByRole("img", { name: /^120\.00 USDC/ })
    .focus();
  await expect(picture(page).getByText("Delivered", { exact: true })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(picture(page).getByText("Delivered", { exact: true })).toBeHidden();
  await expect(page.getByRole("region", { name: "Where the money is now" })).toContainText(
    "Ada Lovelace",
  );
  // The receipt shows the amount that arrived instead of the promised minimum.
  const receipt = page.getByRole("region", { name: "Receipt" });
  await expect(receipt.getByText("Received", { exact: true })).toBeVisible();
  await expect(receipt.getByText("Minimum received")).toHaveCount(0);
  expect(await axeFaults(page)).toEqual([]);

  for (const width of [320, 390, 768]) {
    await expectNoSidewaysScroll(page, "operation", [{ width, height: 800 }]);
    await expect(picture(page)).toBeVisible();
  }
  expect(await axeFaults(page)).toEqual([]);
});

test("amounts that are hidden are hidden on the page of an operation and in the list too", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "500");
  const move = {
    fromChainId: 31337,
    toChainId: 31337,
    token: "USDC",
    amount: "123.45",
    toAddress: ADA,
  };
  const id = await project.execute(await project.prepareTransfer(move));
  expect(await project.untilFinal(id)).toBe("completed");

  await page.goto("/activity");
  await expect(page.getByRole("table", { name: "Activity" })).toContainText("123.45");
  await expect(page.getByRole("table", { name: "Activity" }).getByTitle(ADA)).toBeVisible();
  await page.getByRole("button", { name: "Account", exact: true }).click();
  await page.getByRole("menuitem", { name: "Hide amounts" }).click();
  await expect(page.getByRole("table", { name: "Activity" })).not.toContainText("123.45");
  const asked = {
    fromWalletId: project.treasury.id,
    fromToken: "USDC",
    toToken: "DAI",
    amount: "77.77",
    recipient: ADA,
  };
  await project.api.call(swapAndTransfer, {
    body: { ...asked, fromChainId: 31337, toChainId: 31337 },
  });
  for (const path of ["/inbox", "/"]) {
    await page.goto(path);
    await expect(page.getByText("Swap and transfer of •••••• USDC")).toBeVisible();
    await expect(page.getByRole("main")).not.toContainText(/77\.77|123\.45/);
  }
  await page.goto(`/activity/${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^USDC → /);
  await expect(picture(page)).not.toContainText("123.45");
  await expect(page.getByRole("region", { name: "Receipt" })).not.toContainText("123.45");
  await page.getByRole("button", { name: "Account", exact: true }).click();
  await page.getByRole("menuitem", { name: "Show amounts" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/^123\.45 USDC → /);
});

test("a swap knows its recipient as a transfer does: contacts by name, look-alikes to be compared first", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "500");
  await project.addApproved({ name: "Ada Lovelace", address: ADA });
  await page.goto("/swap");
  await fillSource(page, 1, { chain: "Local 1", token: "USDC", amount: "20" });
  await chooseDestination(page, "USDC", "Local 3");
  const recipient = await openRecipient(page);
  await recipient.fill(LIKE_ADA);
  await expect(
    page.getByText("This address looks like Ada Lovelace in the address book, but it is not."),
  ).toBeVisible();
  await expect(
    page.getByText("Compare the address first: it looks like one that you know."),
  ).toBeVisible();
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeDisabled();

  await page.getByRole("button", { name: "Address book" }).click();
  await page.getByRole("button", { name: "Choose Ada Lovelace" }).click();
  await expect(recipient).toHaveValue(ADA);
  await expect(page.getByText("Ada Lovelace, from the address book")).toBeVisible();
  // The form draws the route before any money moves.
  await expect(page.getByRole("figure", { name: "Route" })).toContainText("Ada Lovelace");
  await expect(page.getByText("Minimum received", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Review", exact: true })).toBeEnabled();
  expect(await axeFaults(page)).toEqual([]);
});

test("the sign-in page says what the product is and shows the chains as they are", async ({
  page,
}) => {
  await page.goto("/sign-in");
  await expect(page.getByText(/one way to move money over them/)).toBeVisible();
  const chains = page.getByRole("figure", { name: "The chains now" });
  await expect(chains.getByText(/^block [\d,]+$/)).toHaveCount(3);
  const height = async (): Promise<number> =>
    Number(
      (
        await chains
          .getByText(/^block /)
          .first()
          .textContent()
      )?.replace(/\D/g, ""),
    );
  const before = await height();
  await expect.poll(height).toBeGreaterThan(before);
  expect(await axeFaults(page)).toEqual([]);
});

test.describe("in German", () => {
  test.use({ locale: "de-DE" });

  test("numbers are written by the browser's locale", async ({ page }) => {
    await signIn(page.request);
    const project = await projectOf(page);
    await project.give(31337, "USDC", "1250.5");
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto("/balances");
    const table = page.getByRole("table", { name: "Balances by token, chain and wallet" });
    await expect(table).toContainText("1.250,50 USDC");
    await expect(page.getByTestId("total-usd")).toHaveText("1.250,50 $");
    // Titles contain amounts too. The server writes them in English, and the browser hydrates this
    // text before it uses its own locale.
    const transfers = [{ address: ADA, amount: "1000.5", token: "USDC" }];
    const { payoutId } = await project.api.call(createWalletsPayout, {
      body: { chainId: 31337, transfers },
    });
    const asked = {
      fromWalletId: project.treasury.id,
      fromToken: "USDC",
      toToken: "DAI",
      amount: "77.77",
    };
    const chains = { fromChainId: 31337, toChainId: 31337 };
    const { operationId } = await project.api.call(swapAndTransfer, {
      body: { ...asked, ...chains, recipient: ADA },
    });
    for (const [path, title] of [
      [`/payouts/${String(payoutId)}`, /^1\.000,50 USDC to 1 recipient$/],
      [`/activity/${operationId}`, /^77,77 USDC → /],
    ] as const) {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
    }
    await page.goto("/payouts");
    await expect(page.getByRole("main")).toContainText("1.000,50 USDC to 1 recipient");
    expect(problems).toEqual([]);
  });
});
