import { expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { contractsAmong } from "./contract-probe";

const { chains } = await testDevnet();
const registry = createChainRegistry(chains);
const [chain] = chains;
if (chain === undefined) throw new Error("There is no chain.");
const client = registry.client(chain.id);

test("contracts among addresses are found in the order of the addresses, however many there are", async () => {
  const { entryPoint, multicall3 } = chain.contracts;
  const plain = testAccount().address;
  expect(await contractsAmong(client, [plain, entryPoint, plain, multicall3])).toEqual([
    false,
    true,
    false,
    true,
  ]);
  const many = Array.from({ length: 9000 }, (_, index) =>
    index % 3000 === 2999 ? entryPoint : plain,
  );
  const found = await contractsAmong(client, many);
  expect(found.flatMap((has, index) => (has ? [index] : []))).toEqual([2999, 5999, 8999]);
  expect(await contractsAmong(client, [])).toEqual([]);
});
