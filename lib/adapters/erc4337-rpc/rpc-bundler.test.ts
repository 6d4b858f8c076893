import { expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { hashUserOperation } from "@/lib/chain/erc4337/user-operation";
import { chainConfig } from "@/lib/platform/config/chains";
import { isDomainError } from "@/lib/core/errors";
import {
  WaitsForTurnError,
  type SenderQueue,
  type UserOperation,
} from "@/lib/chain/ports/bundler";
import { createRpcBundler } from "./rpc-bundler";

const CHAIN_ID = 1;
const ENTRY_POINT = "0x0000000071727De22E5E9d8BAf0edAc6f37da032";
const NOWHERE = "0x0000000000000000000000000000000000000001";
const registry = createChainRegistry([
  chainConfig.parse({
    id: CHAIN_ID,
    name: "Chain",
    testnet: true,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: ["http://127.0.0.1:9"],
    confirmations: 1,
    blockTimeMs: 1000,
    contracts: { multicall3: NOWHERE, entryPoint: ENTRY_POINT, wrappedNative: NOWHERE },
    tokens: [{ symbol: "ETH", name: "Ether", address: "native", decimals: 18, assetId: "eth" }],
  }),
]);

const operation: UserOperation = {
  sender: "0x1111111111111111111111111111111111111111",
  nonce: 1n << 64n,
  callData: "0x1234",
  callGasLimit: 1n,
  verificationGasLimit: 2n,
  preVerificationGas: 3n,
  maxFeePerGas: 4n,
  maxPriorityFeePerGas: 5n,
  signature: "0x99",
};
const userOpHash = hashUserOperation(operation, CHAIN_ID, ENTRY_POINT);

type Answers = Readonly<Record<string, () => Response>>;
const result = (value: unknown) => () =>
  Response.json({ jsonrpc: "2.0", id: 1, result: value });
const refusal = (code: number, message: string) => () =>
  Response.json({ jsonrpc: "2.0", id: 1, error: { code, message } });
const unknownOperation: Answers = {
  eth_getUserOperationByHash: result(null),
  pimlico_getUserOperationStatus: refusal(-32601, "no such method"),
};

const bundlerThat = (answers: Answers, queue: SenderQueue | null = null) => {
  const asked: { method: string; params: unknown[] }[] = [];
  const fetchFn: typeof fetch = (_, init) => {
    const body = JSON.parse(init?.body as string) as { method: string; params: unknown[] };
    asked.push(body);
    const answer = answers[body.method];
    return answer === undefined
      ? Promise.reject(new Error("connection refused"))
      : Promise.resolve(answer());
  };
  return {
    asked,
    bundler: createRpcBundler({
      registry,
      urls: new Map([[CHAIN_ID, "http://bundler"]]),
      marker: null,
      queue,
      fetchFn,
    }),
  };
};

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const outcome = await work.then(
    () => "no error",
    (error: unknown) => error,
  );
  return isDomainError(outcome) ? outcome.code : String(outcome);
};

test("an operation goes out with quantities in hex and without the parts it does not have", async () => {
  const { asked, bundler } = bundlerThat({ eth_sendUserOperation: result(userOpHash) });
  expect(await bundler.submit(CHAIN_ID, operation)).toEqual({ userOpHash });
  expect(asked[0]?.params).toEqual([
    {
      sender: operation.sender,
      nonce: "0x10000000000000000",
      callData: "0x1234",
      callGasLimit: "0x1",
      verificationGasLimit: "0x2",
      preVerificationGas: "0x3",
      maxFeePerGas: "0x4",
      maxPriorityFeePerGas: "0x5",
      signature: "0x99",
    },
    ENTRY_POINT,
  ]);
});

test.each([
  ["a refusal by EntryPoint", refusal(-32500, "AA24 signature error"), "simulation_failed"],
  ["a refusal for its validity", refusal(-32503, "expires too soon"), "simulation_failed"],
  ["a revert", refusal(-32521, "execution reverted"), "simulation_failed"],
  ["a limit of the provider", refusal(-32005, "too many requests"), "provider_error"],
  ["HTTP 500", () => new Response("oops", { status: 500 }), "chain_unavailable"],
  ["nonsense", () => Response.json({ hello: "world" }), "chain_unavailable"],
  ["an answer of another type", result(42), "chain_unavailable"],
])("%s becomes an error that says so", async (_, answer, code) => {
  const { bundler } = bundlerThat({ ...unknownOperation, eth_sendUserOperation: answer });
  expect(await codeOf(bundler.submit(CHAIN_ID, operation))).toBe(code);
});

test("no answer at all is unknown, not failed", async () => {
  expect(await codeOf(bundlerThat({}).bundler.submit(CHAIN_ID, operation))).toBe(
    "chain_unavailable",
  );
});

test.each([
  ["mined", { ...unknownOperation, eth_getUserOperationByHash: result({ userOperation: {} }) }],
  [
    "waiting",
    {
      ...unknownOperation,
      pimlico_getUserOperationStatus: result({ status: "not_submitted" }),
    },
  ],
])(
  "what the bundler has already (%s) is accepted, whatever words it refuses it with",
  async (_, answers) => {
    const { bundler } = bundlerThat({
      ...answers,
      eth_sendUserOperation: refusal(-32602, "…"),
    });
    expect(await bundler.submit(CHAIN_ID, operation)).toEqual({ userOpHash });
  },
);

test("gas limits that a bundler leaves out are zero", async () => {
  const gas = { preVerificationGas: "0x1", verificationGasLimit: "0x2", callGasLimit: "0x3" };
  const { bundler } = bundlerThat({ eth_estimateUserOperationGas: result(gas) });
  expect(await bundler.estimateGas(CHAIN_ID, operation)).toMatchObject({
    verificationGasLimit: 2n,
    callGasLimit: 3n,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
  });
});

test("its own fee suggestion is used where it has one", async () => {
  const fast = { maxFeePerGas: "0x10", maxPriorityFeePerGas: "0x1" };
  const { bundler } = bundlerThat({ pimlico_getUserOperationGasPrice: result({ fast }) });
  expect(await bundler.fees(CHAIN_ID)).toEqual({
    maxFeePerGas: 16n,
    maxPriorityFeePerGas: 1n,
    aboveCap: null,
  });
});

test("a chain without a bundler is a mistake of ours, and said so", async () => {
  const bundler = createRpcBundler({ registry, urls: new Map(), marker: null });
  expect(await codeOf(bundler.submit(CHAIN_ID, operation))).toContain(
    "No bundler is configured",
  );
});

test("a refusal names EntryPoint's code", async () => {
  const { bundler } = bundlerThat({
    ...unknownOperation,
    eth_sendUserOperation: refusal(-32500, "reverted: AA21 no prefund"),
  });
  await expect(bundler.submit(CHAIN_ID, operation)).rejects.toMatchObject({
    extra: { entryPointCode: "AA21" },
  });
});

test("preVerificationGas has a margin", async () => {
  const gas = { preVerificationGas: "0x64", verificationGasLimit: "0x2", callGasLimit: "0x3" };
  const { bundler } = bundlerThat({ eth_estimateUserOperationGas: result(gas) });
  expect((await bundler.estimateGas(CHAIN_ID, operation)).preVerificationGas).toBe(125n);
});

test("an operation that is refused is estimated again, and too little preVerificationGas is told with what is needed", async () => {
  const gas = (preVerificationGas: string) => ({
    preVerificationGas,
    verificationGasLimit: "0x2",
    callGasLimit: "0x3",
  });
  const refused = {
    ...unknownOperation,
    eth_sendUserOperation: refusal(-32602, "some words of a bundler"),
  };
  const tooLow = bundlerThat({ ...refused, eth_estimateUserOperationGas: result(gas("0x64")) });
  await expect(tooLow.bundler.submit(CHAIN_ID, operation)).rejects.toMatchObject({
    code: "simulation_failed",
    needed: 125n,
  });
  const enough = bundlerThat({ ...refused, eth_estimateUserOperationGas: result(gas("0x3")) });
  const error: unknown = await enough.bundler
    .submit(CHAIN_ID, operation)
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "simulation_failed",
    extra: { reason: "some words of a bundler" },
  });
  expect(error).not.toHaveProperty("needed");
});

const queueThat = (isAdmitted: boolean) => {
  const left: string[] = [];
  const queue: SenderQueue = {
    admit: () => Promise.resolve(isAdmitted),
    leave: (_, hash) => Promise.resolve(void left.push(hash)),
  };
  return { left, queue };
};

test("an operation whose turn has not come is not sent", async () => {
  const { asked, bundler } = bundlerThat(
    { eth_sendUserOperation: result(userOpHash) },
    queueThat(false).queue,
  );
  await expect(bundler.submit(CHAIN_ID, operation)).rejects.toBeInstanceOf(WaitsForTurnError);
  expect(asked).toEqual([]);
});

test("an operation that the bundler refuses for good leaves the queue; one whose state is unknown keeps its place", async () => {
  const { left, queue } = queueThat(true);
  const lost = {
    ...unknownOperation,
    eth_sendUserOperation: () => new Response("oops", { status: 500 }),
  };
  await bundlerThat(lost, queue)
    .bundler.submit(CHAIN_ID, operation)
    .catch(() => undefined);
  expect(left).toEqual([]);
  const refused = {
    ...unknownOperation,
    eth_sendUserOperation: refusal(-32500, "AA24 signature error"),
  };
  await bundlerThat(refused, queue)
    .bundler.submit(CHAIN_ID, operation)
    .catch(() => undefined);
  expect(left).toEqual([userOpHash]);
});
