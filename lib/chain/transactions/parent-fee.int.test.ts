import { pino } from "pino";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { systemClock } from "@/lib/core/clock";
import { startBareAnvil } from "@/lib/dev/testing/bare-anvil";
import { testDatabase } from "@/lib/dev/testing/database";
import { codeOf, GWEI, paymentsOn } from "@/lib/dev/testing/executor-payments";
import { createMemorySigner } from "@/lib/dev/testing/memory-signer";
import { standInRollup } from "@/lib/dev/testing/rollup";
import { createChainTransactionsService } from "./service";

const CHAIN_ID = 41_338;

const { database } = await testDatabase();
const anvil = await startBareAnvil(CHAIN_ID);
afterAll(() => anvil.stop());
const payment = paymentsOn(CHAIN_ID);

test("a transaction that the account cannot pay with its data on the parent chain is refused before it takes a nonce", async () => {
  const executorKey = generatePrivateKey();
  const { address } = privateKeyToAccount(executorKey);
  const service = createChainTransactionsService({
    database,
    registry: createChainRegistry([{ ...anvil.config, rollup: "op-stack" }]),
    signer: createMemorySigner({ executor: executorKey }),
    clock: systemClock,
    log: pino({ level: "silent" }),
  });
  const fees = await standInRollup(anvil.url, "op-stack");
  // The gas of a payment costs at most 0.00021 coins.
  await anvil.client.setBalance({ address, value: parseEther("0.001") });
  await fees.setPerByte(1_000_000n * GWEI);
  expect(await codeOf(service.send(payment()))).toBe("provider_error");
  expect(await database.prisma.signerNonce.count({ where: { address } })).toBe(0);
  await fees.setPerByte(0n);
  expect(await codeOf(service.send(payment()))).toBe("no error");
});
