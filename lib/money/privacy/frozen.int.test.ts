/** Private operations that touch addresses which the token's issuer has frozen. */
import { beforeAll, expect, test } from "vitest";
import { approveOperation, getOperation } from "@/lib/contracts/operations";
import {
  createPrivacyWallet,
  privateTransfer,
  shield,
  unshield,
} from "@/lib/contracts/privacy";
import { requestOtp } from "@/lib/contracts/swap";
import { codesOf, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { deployLookAlike } from "@/lib/dev/testing/freezable";
import { privateMoney } from "@/lib/dev/testing/private-money";
import { refusalOf } from "@/lib/dev/testing/voters";

const ONE = 31337;
const devnet = await testDevnet();
const deployer = testAccount();
await devnet.setCoins(deployer.address, "10");
const rpcUrl = devnet.rpcUrls[ONE] ?? "";
const token = await deployLookAlike({ rpcUrl, deployer }, "CircleLike");
/** USDC of the first chain can be frozen. */
const CHAINS_FILE = changedChainsFile((chain) => {
  for (const one of chain.tokens)
    if (chain.id === ONE && one.symbol === "USDC") one.address = token.address;
});
const { api, ...money } = await privateMoney({
  CHAINS_FILE,
  [`RPC_URL_${String(ONE)}`]: rpcUrl,
});

let customer: Customer;
let privacyWalletId = "";
beforeAll(async () => {
  customer = await newCustomer(api);
  const { client } = customer.session;
  ({ id: privacyWalletId } = await client.call(createPrivacyWallet, {
    body: { name: "Frozen" },
  }));
  for (const amount of ["100", "100"]) await money.deposit(privacyWalletId, "USDC", amount);
}, 120_000);

const move = (amount: string) => ({ chainId: ONE, token: "USDC", amount, privacyWalletId });

test("a shield from a frozen treasury is refused, and stores nothing", async () => {
  const { client } = customer.session;
  await token.add(customer.treasury);
  const refusal = await refusalOf(client.call(shield, { body: move("5") }));
  expect(refusal).toMatchObject({
    status: 422,
    code: "wallet_frozen",
    body: { details: [{ path: "token" }] },
  });
  expect(refusal.message).toContain(customer.treasury);
  // An unshield without an address pays the treasury.
  expect(await refusalOf(client.call(unshield, { body: move("5") }))).toMatchObject({
    code: "recipient_frozen",
  });
  await token.remove(customer.treasury);
  expect(await api.services.database.prisma.operation.count()).toBe(0);
  expect((await client.call(shield, { body: move("5") })).status).toBe("pending");
});

test("a private payment to a frozen address is refused when it is made, and when it is approved after the freeze", async () => {
  const { client } = customer.session;
  const [frozen, later] = [testAccount().address, testAccount().address];
  await token.add(frozen);
  for (const contract of [unshield, privateTransfer]) {
    const refusal = await refusalOf(
      client.call(contract, { body: { ...move("5"), toAddress: frozen } }),
    );
    expect(refusal).toMatchObject({
      status: 422,
      code: "recipient_frozen",
      body: { details: [{ path: "toAddress" }] },
    });
    expect(refusal.message).toContain(frozen);
  }
  const { operationId } = await client.call(privateTransfer, {
    body: { ...move("5"), toAddress: later },
  });
  const seen = await codesOf(api, customer);
  await client.call(requestOtp, { body: { operationId } });
  const otp = await api.readCode(customer.email, seen);
  await token.add(later);
  const approving = client.call(approveOperation, {
    params: { id: operationId },
    body: { otp },
  });
  expect(await refusalOf(approving)).toMatchObject({ status: 422, code: "recipient_frozen" });
  const waiting = await client.call(getOperation, { params: { id: operationId } });
  expect(waiting).toMatchObject({ status: "pending", subStatus: "awaiting_approval" });
});
