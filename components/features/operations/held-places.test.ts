import { expect, test } from "vitest";
import { heldPlaces } from "./operation-sums";

const token = { symbol: "WETH", address: "0xa", chainId: 1, decimals: 18, assetId: "weth" };
const hold = (change: Partial<Parameters<typeof heldPlaces>[0][number]>) => ({
  wallet: "0x1",
  chainId: 1,
  token,
  amount: "",
  amountBase: "1000000000000000000",
  txHash: null,
  note: "received",
  ...change,
});

test("parts at one place are one sum with the transactions of all", () => {
  const places = heldPlaces([
    hold({ txHash: "0x01" }),
    hold({ txHash: "0x02", amountBase: "500000000000000000" }),
  ]);
  expect(places).toMatchObject([{ amount: "1.5", symbol: "WETH", hashes: ["0x01", "0x02"] }]);
});

test("another wallet, chain or reason is another place", () => {
  const places = heldPlaces([
    hold({}),
    hold({ chainId: 2 }),
    hold({ wallet: "0x2" }),
    hold({ note: "returned" }),
  ]);
  expect(places).toHaveLength(4);
});
