import { expect, test, type Page } from "./support/test";
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  http,
  parseAbi,
  parseUnits,
  type Address,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { useFaucet as faucet } from "@/lib/contracts/dev";
import { createContact } from "@/lib/contracts/contacts";
import { listTokens } from "@/lib/contracts/chains";
import { devAccount } from "@/lib/dev/devnet/accounts";
import { LOCAL_SANCTIONS_LIST } from "@/lib/dev/devnet/sanctions-list";
import { axeFaults } from "./support/axe";
import { choose, typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
const DECIMALS = 6;

/** Makes an account that belongs to no project, with USDC and coins. */
const outsider = async ({ api }: TestProject, usdc: string) => {
  const account = privateKeyToAccount(generatePrivateKey());
  for (const [token, amount] of [
    ["USDC", usdc],
    ["ETH", "1"],
  ] as const)
    await api.call(faucet, {
      body: { address: account.address, chainId: CHAIN, token, amount },
    });
  const { data } = await api.call(listTokens, { query: { chainId: CHAIN } });
  const address = data.find(({ symbol }) => symbol === "USDC")?.address as Address;
  const wallet = createWalletClient({
    account,
    transport: http(process.env[`E2E_RPC_URL_${String(CHAIN)}`]),
  });
  const send = (to: string, amount: string) =>
    wallet.writeContract({
      ...{ address, abi: erc20Abi, functionName: "transfer", chain: null },
      args: [to as Address, parseUnits(amount, DECIMALS)],
    });
  return { address: account.address, send };
};

/** Adds an address to the sanctions oracle of the local chain, which its owner may change. */
const putOnSanctionsList = async (address: Address): Promise<void> => {
  const chain = http(process.env[`E2E_RPC_URL_${String(CHAIN)}`]);
  const owner = createWalletClient({ account: devAccount("deployer"), transport: chain });
  const hash = await owner.writeContract({
    ...{
      address: LOCAL_SANCTIONS_LIST,
      chain: null,
      functionName: "addToSanctionsList",
      args: [[address]],
    },
    abi: parseAbi(["function addToSanctionsList(address[] addrs)"]),
  });
  await createPublicClient({ transport: chain }).waitForTransactionReceipt({ hash });
};

const openReceive = async (page: Page, project: TestProject, amount: string): Promise<void> => {
  await page.goto("/receive");
  await expect(page.getByRole("heading", { name: "Receive", level: 1 })).toBeVisible();
  await expect(page.getByRole("img", { name: /QR code/ })).toBeVisible();
  await expect(page.getByTitle(project.treasury.address).first()).toHaveText(
    project.treasury.address,
  );
  await page.getByLabel("Expected amount").fill(amount);
  await expect(page.getByRole("heading", { name: "Waiting for a deposit" })).toBeVisible();
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
};

test("a deposit from outside appears by itself on the page that waits for it, and in the activity with its sender's name", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  const payer = await outsider(project, "25.5");
  await project.api.call(createContact, {
    body: { name: "Acme GmbH", address: payer.address },
  });
  await openReceive(page, project, "25.5");
  expect(await axeFaults(page)).toEqual([]);

  await payer.send(project.treasury.address, "25.5");
  const line = page
    .getByRole("list", { name: "Latest deposits" })
    .getByRole("listitem")
    .first();
  await expect(line.getByText("Credited; it may be moved.")).toBeVisible({ timeout: 60_000 });
  await expect(line.getByText("As expected")).toBeVisible();
  await expect(line.getByText(/not approved/i)).toBeVisible();
  // The choices and the deposit survive a reload.
  await page.reload();
  await expect(page.getByLabel("Expected amount")).toHaveValue("25.5");
  await expect(line.getByText("Credited; it may be moved.")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);

  await page.goto("/activity");
  const row = page.getByRole("row").filter({ hasText: "Deposit" });
  await expect(row).toHaveCount(1);
  await expect(row.getByText("Acme GmbH")).toBeVisible();
  await row.getByRole("link", { name: "Deposit" }).click();
  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("25.50 USDC → Treasury");
  await expect(page.getByText("On no list")).toBeVisible();
  await expect(page.getByText("Acme GmbH")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);

  // Signing in, the address and the money are done. The deposit is no swap.
  await page.goto("/");
  await expect(page.getByRole("region", { name: "First steps" })).toContainText("3 of 7 done");
});

test("an expectation stays until its amount arrived or somebody closes it, and says what is missing", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  const payer = await outsider(project, "30");
  await openReceive(page, project, "30");
  await payer.send(project.treasury.address, "25");
  const short = page.getByText("5.00 short", { exact: true });
  await expect(short).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole("heading", { name: "Waiting for a deposit" })).toBeVisible();
  await page.reload();
  await expect(short).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);

  await payer.send(project.treasury.address, "5");
  await expect(page.getByText("Complete", { exact: true })).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole("heading", { name: "Waiting for a deposit" })).toHaveCount(0);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(page.getByLabel("Expected amount")).toHaveValue("");
  await expect(page.getByText("Complete", { exact: true })).toHaveCount(0);

  // An amount that is expected on a chain without deposits does not count those of another chain.
  await choose(page, page.getByLabel("Chain", { exact: true }), /^Local 2/);
  await page.getByLabel("Expected amount").fill("30");
  await expect(page).toHaveURL(/after=0/);
  await choose(page, page.getByLabel("Chain", { exact: true }), /^Local 1/);
  await expect(page).toHaveURL(/after=op_|after=dep_/);
  await expect(page.getByRole("list", { name: "Latest deposits" })).toContainText("25.00");
  await expect(page.getByText("Nothing new yet.")).toBeVisible();
  await expect(page.getByText("Complete", { exact: true })).toHaveCount(0);
});

test("a deposit whose sender is on a sanctions list is kept back, and counts once it is released with a code", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  const payer = await outsider(project, "40");
  await putOnSanctionsList(payer.address);
  await openReceive(page, project, "40");
  await payer.send(project.treasury.address, "40");
  const line = page
    .getByRole("list", { name: "Latest deposits" })
    .getByRole("listitem")
    .first();
  await expect(line.getByText(/^In quarantine/)).toBeVisible({ timeout: 60_000 });
  // Money that cannot be moved does not complete the expectation.
  await expect(page.getByText("40.00 short", { exact: true })).toBeVisible();
  await expect(page.getByText("In quarantine", { exact: true })).toBeVisible();
  await expect(page.getByText("Complete", { exact: true })).toHaveCount(0);

  // The quarantined deposit is not part of the available amount, and the form does not offer it.
  await page.goto("/balances");
  await expect(page.getByText("in quarantine").first()).toBeVisible();
  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await expect(page.getByRole("button", { name: "Use all 0 USDC" })).toBeVisible();

  await page.goto("/inbox");
  await page
    .getByRole("link", { name: "Deposit of 40.00 USDC in quarantine", exact: true })
    .click();
  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByText("On a list")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Release …" }).click();
  const dialog = page.getByRole("dialog", { name: "Release this deposit?" });
  // The deposit stays in quarantine, so nothing changes.
  await dialog.getByRole("button", { name: "Keep in quarantine" }).click();
  await expect(page.getByText("Kept back", { exact: false }).first()).toBeVisible();
  await page.getByRole("button", { name: "Release …" }).click();
  await dialog.getByLabel("Reason").fill("Invoice 17, checked with the sender");
  await dialog.getByRole("button", { name: "Release", exact: true }).click();
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  // After a reload the dialog opens again, where the mailed code is entered.
  await page.reload();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  // The dialog sends the code when its last digit is typed.
  await typeCode(page, await project.code());
  await expect(page.getByText("Released by", { exact: true })).toBeVisible({ timeout: 30_000 });
  await expect(
    page.getByText("Invoice 17, checked with the sender", { exact: true }),
  ).toBeVisible();

  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await expect(page.getByRole("button", { name: "Use all 40 USDC" })).toBeVisible({
    timeout: 30_000,
  });
});
