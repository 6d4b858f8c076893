import { expect, test } from "vitest";
import type { ChainRegistry } from "./registry";
import { createDeployments } from "./deployments";

const ADDRESS = "0x00000000000000000000000000000000000000aa";
const CONFIRMATIONS = 3;

/** A chain on which the address gets its code at block `deployedAt`. */
const chain = (deployedAt: number | null) => {
  const state = { head: 10n, deployedAt, asked: 0 };
  const client = {
    getBlockNumber: () => Promise.resolve(state.head),
    getCode: ({ blockNumber = state.head }: { blockNumber?: bigint }) => {
      state.asked += 1;
      const isDeployed = state.deployedAt !== null && blockNumber >= BigInt(state.deployedAt);
      return Promise.resolve(isDeployed ? "0x60" : undefined);
    },
  };
  const registry = {
    get: () => ({ finality: "confirmations", confirmations: CONFIRMATIONS }),
    client: () => client,
  } as unknown as ChainRegistry;
  return { state, deployments: createDeployments(registry) };
};

test("a contract in a final block is asked about once", async () => {
  const { state, deployments } = chain(5);
  expect(await deployments.isDeployed(1, ADDRESS)).toBe(true);
  await expect.poll(() => state.asked).toBe(2);
  expect(await deployments.isDeployed(1, ADDRESS)).toBe(true);
  expect(state.asked).toBe(2);
});

test("a contract in a block that a reorganisation may remove is asked about again, and is gone after one", async () => {
  const { state, deployments } = chain(9);
  expect(await deployments.isDeployed(1, ADDRESS)).toBe(true);
  await expect.poll(() => state.asked).toBe(2);
  expect(await deployments.isDeployed(1, ADDRESS)).toBe(true);
  state.deployedAt = null;
  expect(await deployments.isDeployed(1, ADDRESS)).toBe(false);
});

test("an address without code is asked about each time", async () => {
  const { state, deployments } = chain(null);
  expect(await deployments.isDeployed(1, ADDRESS)).toBe(false);
  state.deployedAt = 10;
  expect(await deployments.isDeployed(1, ADDRESS)).toBe(true);
});
