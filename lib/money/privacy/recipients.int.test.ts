/** The one check of recipients, for payments out of privacy pools. */
import { beforeAll } from "vitest";
import { createPrivacyWallet, privateTransfer, unshield } from "@/lib/contracts/privacy";
import { newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { privateMoney } from "@/lib/dev/testing/private-money";
import {
  ONE,
  recipientCheckTests,
  recipientWorld,
  type RecipientRow,
} from "@/lib/dev/testing/recipient-check";

const NOTES = 16;
const world = await recipientWorld();
const { api, ...money } = await privateMoney({ ...world.variables, ...world.urls });

let insider: Customer;
let privacyWalletId = "";
beforeAll(async () => {
  insider = await newCustomer(api);
  ({ id: privacyWalletId } = await insider.session.client.call(createPrivacyWallet, {
    body: { name: "Inside" },
  }));
  for (let note = 0; note < NOTES; note += 1)
    await money.deposit(privacyWalletId, "USDC", "10");
}, 180_000);

const move = () => ({ chainId: ONE, token: "USDC", amount: "5", privacyWalletId });

const ROWS: readonly RecipientRow[] = [
  {
    ...{
      route: "POST /privacy/unshield",
      path: "toAddress",
      purpose: "pay",
      own: () => insider.treasury,
    },
    refuses: { listed: true, frozen: null },
    call: (toAddress) =>
      insider.session.client.call(unshield, { body: { ...move(), toAddress } }),
  },
  {
    ...{
      route: "POST /privacy/transfer",
      path: "toAddress",
      purpose: "pay",
      own: () => insider.treasury,
    },
    refuses: { listed: true, frozen: null },
    call: (toAddress) =>
      insider.session.client.call(privateTransfer, {
        body: { ...move(), toAddress, acceptSmallSet: true },
      }),
  },
];

recipientCheckTests(ROWS, api, world);
