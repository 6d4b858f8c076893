import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  concatHex,
  decodeErrorResult,
  decodeFunctionData,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  numberToHex,
  parseEventLogs,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { planDeployments } from "@/lib/dev/devnet/contracts";
import { startBareAnvil, type BareAnvil } from "@/lib/dev/testing/bare-anvil";
import { compileContract } from "@/lib/dev/testing/solidity";
import {
  deployDistributor,
  distributeData,
  DISTRIBUTOR_ADDRESS,
  distributorAbi,
  distributorFault,
  type DistributorRow,
  failedRowOf,
} from "./distributor";
import { DISTRIBUTOR_CODE } from "./solidity/distributor";

// An account that delegates any call, as a Safe's module does, and tokens that fail in every
// possible way.
const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract Account {
  constructor() payable {}
  receive() external payable {}
  function delegate(address to, bytes calldata data) external {
    (bool done, bytes memory answer) = to.delegatecall(data);
    if (!done) assembly { revert(add(answer, 32), mload(answer)) }
  }
}
contract Token {
  event Transfer(address indexed from, address indexed to, uint256 value);
  uint8 public mode; // 0 true, 1 nothing, 2 false, 3 reverts for the blocked, 4 answers 2
  address public blocked;
  mapping(address => uint256) public balanceOf;
  function set(uint8 to, address who) external { mode = to; blocked = who; }
  function mint(address to, uint256 value) external { balanceOf[to] += value; }
  function transfer(address to, uint256 value) external {
    if (mode == 3 && to == blocked) revert("blocked");
    bool refuses = mode == 2 && to == blocked;
    if (!refuses) { balanceOf[msg.sender] -= value; balanceOf[to] += value; emit Transfer(msg.sender, to, value); }
    uint8 answers = mode;
    assembly {
      if eq(answers, 1) { return(0, 0) }
      mstore(0, 1)
      if refuses { mstore(0, 0) }
      if eq(answers, 4) { mstore(0, 2) }
      return(0, 32)
    }
  }
}
contract Refuses { receive() external payable { revert("no"); } }
contract Burns { receive() external payable { while (true) {} } }
`;

const abiOf = (name: string) => compileContract(name, SOURCE).abi;
const MODE = { true: 0, nothing: 1, false: 2, reverts: 3, two: 4 } as const;
const NOBODY: Address = "0x0000000000000000000000000000000000000001";

let chain: BareAnvil;
let sender: Address;
let distributor: Address;
let account: Address;
let token: Address;

const mined = async (hash: Hex) =>
  chain.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });

const send = async (to: Address | null, data: Hex, value = 0n) => {
  const hash = await chain.client.request({
    method: "eth_sendTransaction",
    // A fixed gas limit, because estimating the gas of a failing batch would throw.
    params: [
      {
        from: sender,
        ...(to ? { to } : {}),
        data,
        value: numberToHex(value),
        gas: numberToHex(16_000_000),
      },
    ],
  } as never);
  return mined(hash);
};

const deploy = async (code: Hex, value = 0n): Promise<Address> => {
  const { contractAddress } = await send(null, code, value);
  return getAddress(contractAddress ?? NOBODY);
};

const deployNamed = (name: string, value = 0n): Promise<Address> => {
  const { abi, bytecode } = compileContract(name, SOURCE);
  return deploy(encodeDeployData({ abi, bytecode }), value);
};

const delegated = (data: Hex): Hex =>
  encodeFunctionData({
    abi: abiOf("Account"),
    functionName: "delegate",
    args: [distributor, data],
  });

const setToken = (mode: number, blocked: Address = NOBODY) =>
  send(
    token,
    encodeFunctionData({ abi: abiOf("Token"), functionName: "set", args: [mode, blocked] }),
  );

const balanceOf = (who: Address): Promise<bigint> =>
  chain.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [who],
  });

/** Revert data of the call, or null when it succeeds. */
const revertOf = async (to: Address, data: Hex): Promise<Hex | null> => {
  const response = await fetch(chain.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "eth_call",
      params: [{ from: sender, to, data, gas: numberToHex(16_000_000) }, "latest"],
    }),
  });
  const { error } = (await response.json()) as { error?: { data?: Hex } };
  return error === undefined ? null : (error.data ?? "0x");
};

const someone = (): Address => privateKeyToAddress(generatePrivateKey());
const rowsOf = (count: number): DistributorRow[] =>
  Array.from({ length: count }, (_, index) => ({
    recipient: someone(),
    amountBase: BigInt(index + 1) * 1_000_000n,
  }));

beforeAll(async () => {
  chain = await startBareAnvil(31_991);
  const accounts: readonly Address[] = await chain.client.request({
    method: "eth_accounts",
  } as never);
  sender = accounts[0] ?? NOBODY;
  distributor = await deploy(DISTRIBUTOR_CODE);
  account = await deployNamed("Account", 10n ** 21n);
  token = await deployNamed("Token");
  await send(
    token,
    encodeFunctionData({
      abi: abiOf("Token"),
      functionName: "mint",
      args: [account, 2n ** 200n],
    }),
  );
}, 180_000);
afterAll(() => chain.stop());

test("the code of a deployed distributor is recognised, and no other", async () => {
  expect(await distributorFault(chain.client, distributor)).toBeNull();
  expect(await distributorFault(chain.client, someone())).toContain("has no code");
  expect(await distributorFault(chain.client, token)).toContain("is not the Distributor");
  const elsewhere = someone();
  const code = (await chain.client.getCode({ address: distributor })) ?? "0x";
  await chain.client.setCode({ address: elsewhere, bytecode: code });
  // Code with the address of another deployment would mistake an accidental direct call for a
  // delegated one.
  expect(await distributorFault(chain.client, elsewhere)).toContain("is not the Distributor");
});

test("it is deployed once, at the address of the local chains, and a second deployment sends nothing", async () => {
  const executor = privateKeyToAccount(generatePrivateKey());
  await chain.client.setBalance({ address: executor.address, value: 10n ** 18n });
  const place = { chain: { id: 31_991, name: "Bare", rpcUrl: chain.url }, executor };
  expect(await deployDistributor(place)).toBe(true);
  expect(await deployDistributor(place)).toBe(false);
  expect(await chain.client.getTransactionCount({ address: executor.address })).toBe(1);
  expect(await distributorFault(chain.client, DISTRIBUTOR_ADDRESS)).toBeNull();
  expect(DISTRIBUTOR_ADDRESS).toBe(planDeployments().contracts.distributor);
  const elsewhere = { ...place, chain: { ...place.chain, id: 1 } };
  await expect(deployDistributor(elsewhere)).rejects.toThrow("is chain 31991, not 1");
});

test.each([
  ["true", MODE.true],
  ["nothing", MODE.nothing],
])(
  "every row of a token whose transfer answers %s is paid once, by the account itself",
  async (_, mode) => {
    await setToken(mode);
    const rows = rowsOf(50);
    const receipt = await send(account, delegated(distributeData(token, rows)));
    expect(receipt.status).toBe("success");
    const logs = parseEventLogs({ abi: erc20Abi, eventName: "Transfer", logs: receipt.logs });
    expect(logs.map(({ args }) => [args.from, args.to, args.value])).toEqual(
      rows.map(({ recipient, amountBase }) => [account, recipient, amountBase]),
    );
    for (const { recipient, amountBase } of rows)
      expect(await balanceOf(recipient)).toBe(amountBase);
    expect(await balanceOf(distributor)).toBe(0n);
  },
);

test.each([
  ["reverts", MODE.reverts],
  ["answers false", MODE.false],
])(
  "a token that %s for one recipient reverts the whole batch and names the row",
  async (_, mode) => {
    const rows = rowsOf(20);
    const bad = rows[13] ?? { recipient: NOBODY };
    await setToken(mode, bad.recipient);
    const data = delegated(distributeData(token, rows));
    expect(failedRowOf((await revertOf(account, data)) ?? "0x")).toBe(13);
    expect((await send(account, data)).status).toBe("reverted");
    for (const { recipient } of rows) expect(await balanceOf(recipient)).toBe(0n);
  },
);

test("an answer that is neither true nor nothing is a failure", async () => {
  await setToken(MODE.two);
  expect(
    failedRowOf((await revertOf(account, delegated(distributeData(token, rowsOf(1))))) ?? "0x"),
  ).toBe(0);
});

test("more than the account has reverts, and names the row at which it was used up", async () => {
  await setToken(MODE.true);
  const all = await balanceOf(account);
  const rows = [...rowsOf(2), { recipient: someone(), amountBase: all }, ...rowsOf(1)];
  expect(
    failedRowOf((await revertOf(account, delegated(distributeData(token, rows)))) ?? "0x"),
  ).toBe(2);
});

test("amounts of more than 96 bits are paid too", async () => {
  await setToken(MODE.true);
  const rows = [...rowsOf(3), { recipient: someone(), amountBase: 2n ** 96n }];
  expect((await send(account, delegated(distributeData(token, rows)))).status).toBe("success");
  for (const { recipient, amountBase } of rows)
    expect(await balanceOf(recipient)).toBe(amountBase);
});

test("coins reach plain accounts and contracts; a recipient that refuses or burns gas is named", async () => {
  const [refuses, burns, safe] = [
    await deployNamed("Refuses"),
    await deployNamed("Burns"),
    await deployNamed("Account"),
  ];
  const rows = [...rowsOf(30), { recipient: safe, amountBase: 5n }];
  expect((await send(account, delegated(distributeData("native", rows)))).status).toBe(
    "success",
  );
  for (const { recipient, amountBase } of rows)
    expect(await chain.client.getBalance({ address: recipient })).toBe(amountBase);
  for (const bad of [refuses, burns]) {
    const data = delegated(
      distributeData("native", [
        ...rowsOf(3),
        { recipient: bad, amountBase: 1n },
        ...rowsOf(3),
      ]),
    );
    expect(failedRowOf((await revertOf(account, data)) ?? "0x")).toBe(3);
    expect((await send(account, data)).status).toBe("reverted");
  }
});

test("a plain call, rows that are cut and a token without code are refused", async () => {
  await setToken(MODE.true);
  const errorOf = async (to: Address, data: Hex): Promise<string> =>
    decodeErrorResult({ abi: distributorAbi, data: (await revertOf(to, data)) ?? "0x" })
      .errorName;
  const whole = distributeData(token, rowsOf(2));
  expect(await errorOf(distributor, whole)).toBe("NotDelegated");
  const { args } = decodeFunctionData({ abi: distributorAbi, data: whole });
  const cut = encodeFunctionData({
    abi: distributorAbi,
    functionName: "payToken",
    args: [token, String(args[1]).slice(0, -2) as Hex],
  });
  expect(await errorOf(account, delegated(cut))).toBe("BadLength");
  expect(await errorOf(account, delegated(distributeData(someone(), rowsOf(1))))).toBe(
    "NoToken",
  );
});

test("whatever the rows, either each is paid exactly or none is (property)", async () => {
  await setToken(MODE.reverts, NOBODY);
  const row = fc.record({
    recipient: fc.oneof(
      { weight: 9, arbitrary: fc.bigInt({ min: 2n ** 32n, max: 2n ** 160n - 1n }) },
      { weight: 1, arbitrary: fc.constant(1n) },
    ),
    amountBase: fc.oneof(
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      fc.bigInt({ min: 1n, max: 2n ** 100n }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async (drawn) => {
      const rows = drawn.map(({ recipient, amountBase }) => ({
        recipient: getAddress(numberToHex(recipient, { size: 20 })),
        amountBase,
      }));
      const recipients = [...new Set(rows.map(({ recipient }) => recipient))];
      const before = new Map(
        await Promise.all(recipients.map(async (who) => [who, await balanceOf(who)] as const)),
      );
      const { status } = await send(account, delegated(distributeData(token, rows)));
      const isBlocked = rows.some(({ recipient }) => recipient === NOBODY);
      expect(status).toBe(isBlocked ? "reverted" : "success");
      for (const who of recipients) {
        const due = rows
          .filter(({ recipient }) => recipient === who)
          .reduce((sum, { amountBase }) => sum + amountBase, 0n);
        expect((await balanceOf(who)) - (before.get(who) ?? 0n)).toBe(isBlocked ? 0n : due);
      }
    }),
    { numRuns: 15 },
  );
});

test("revert data that names no row is not taken for one", () => {
  expect(failedRowOf("0x")).toBeNull();
  expect(failedRowOf("0x12345678")).toBeNull();
  expect(failedRowOf(concatHex(["0xdb593b6a", numberToHex(7, { size: 32 })]))).toBe(7);
});
