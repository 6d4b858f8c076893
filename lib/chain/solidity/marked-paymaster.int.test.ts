import { keccak256, parseEther, zeroAddress, type Hex } from "viem";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { markedPaymasterAbi } from "@/lib/chain/erc4337/marked-paymaster";
import {
  accountNamed,
  consentUntil,
  MARKER,
  NO_CONSENT,
  OTHER_MARKER,
  OWNER,
  STAKE_WEI,
  startPaymasterChain,
  STRANGER,
  UNSTAKE_DELAY_S,
} from "@/lib/dev/testing/paymaster-chain";
import { compileContract } from "@/lib/dev/testing/solidity";

const {
  client,
  entryPoint,
  stop,
  deploy,
  deployPaymaster,
  send,
  as,
  validate,
  depositInfo,
  now,
} = await startPaymasterChain(41_345);
afterAll(stop);

const FIRST = keccak256("0x01");
const SECOND = keccak256("0x02");

let snapshot: Hex;
beforeEach(async () => {
  snapshot = await client.snapshot();
  return async () => {
    await client.revert({ id: snapshot });
  };
});

describe("a stored mark", () => {
  test("is honoured once, up to its time", async () => {
    const until = (await now()) + 100;
    expect(await as(MARKER, "mark", [[FIRST], until])).toBe("done");
    expect(await validate(entryPoint, SECOND)).toBe(NO_CONSENT);
    expect(await validate(entryPoint, FIRST)).toBe(consentUntil(until));
    expect(await validate(entryPoint, FIRST)).toBe(NO_CONSENT);
  });

  test("is used by EntryPoint alone", async () => {
    await as(MARKER, "mark", [[FIRST], (await now()) + 100]);
    for (const somebody of [STRANGER, OWNER, MARKER])
      expect(await validate(somebody, FIRST)).toBe("NotEntryPoint");
    expect(await validate(entryPoint, FIRST)).not.toBe(NO_CONSENT);
  });

  test("is not made for a time that is over", async () => {
    expect(await as(MARKER, "mark", [[FIRST], await now()])).toBe("MarkExpired");
  });

  test("can be taken back by a marker or the owner", async () => {
    for (const somebody of [MARKER, OWNER]) {
      await as(MARKER, "mark", [[FIRST, SECOND], (await now()) + 100]);
      expect(await as(STRANGER, "unmark", [[FIRST]])).toBe("NotMarker");
      expect(await as(somebody, "unmark", [[FIRST]])).toBe("done");
      expect(await validate(entryPoint, FIRST)).toBe(NO_CONSENT);
      expect(await validate(entryPoint, SECOND)).not.toBe(NO_CONSENT);
    }
  });
});

describe("a mark of one transaction", () => {
  const curious = compileContract(
    "CuriousEntryPoint",
    `pragma solidity ^0.8.20;
     struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }
     interface IPaymaster { function validatePaymasterUserOp(Op calldata, bytes32, uint256) external returns (bytes memory, uint256); }
     contract CuriousEntryPoint {
       uint256[] public answers;
       bytes32 asked;
       function ask(address paymaster, bytes32 userOpHash) public {
         Op memory op;
         (, uint256 answer) = IPaymaster(paymaster).validatePaymasterUserOp(op, userOpHash, 0);
         answers.push(answer);
       }
       function setAsked(bytes32 userOpHash) external { asked = userOpHash; }
       function handleOps(Op[] calldata, address payable) external { ask(msg.sender, asked); ask(msg.sender, asked); }
     }`,
  );

  test("is honoured once, and ends with the transaction", async () => {
    const at = await deploy(curious.bytecode);
    const own = await deployPaymaster({ entryPoint: at });
    const call = { to: at, abi: curious.abi };
    expect(await send(STRANGER, { ...call, functionName: "setAsked", args: [FIRST] })).toBe(
      "done",
    );
    const args = [[], MARKER, [FIRST, SECOND]];
    expect(
      await send(MARKER, {
        to: own,
        abi: markedPaymasterAbi,
        functionName: "handleMarkedOps",
        args,
      }),
    ).toBe("done");
    // The second hash was marked and not used in that transaction.
    expect(await send(STRANGER, { ...call, functionName: "ask", args: [own, SECOND] })).toBe(
      "done",
    );
    const answers = await Promise.all(
      [0n, 1n, 2n].map((index) =>
        client.readContract({
          address: at,
          abi: curious.abi,
          functionName: "answers",
          args: [index],
        }),
      ),
    );
    expect(answers).toEqual([0n, NO_CONSENT, NO_CONSENT]);
  });

  test("is made by a marker alone", async () => {
    for (const somebody of [STRANGER, OWNER, OTHER_MARKER]) {
      expect(await as(somebody, "handleMarkedOps", [[], somebody, [FIRST]])).toBe("NotMarker");
      expect(await as(somebody, "mark", [[FIRST], (await now()) + 100])).toBe("NotMarker");
    }
    await as(OWNER, "setMarker", [MARKER, false]);
    expect(await as(MARKER, "handleMarkedOps", [[], MARKER, [FIRST]])).toBe("NotMarker");
  });
});

describe("the owner alone", () => {
  test("takes deposit and stake back", async () => {
    expect(await as(STRANGER, "deposit", [], parseEther("3"))).toBe("done");
    expect(await depositInfo()).toMatchObject({
      deposit: parseEther("3"),
      staked: true,
      stake: STAKE_WEI,
    });
    const to = accountNamed("somewhere");
    for (const somebody of [STRANGER, MARKER, entryPoint]) {
      expect(await as(somebody, "withdrawTo", [to, 1n])).toBe("NotOwner");
      expect(await as(somebody, "addStake", [UNSTAKE_DELAY_S], 1n)).toBe("NotOwner");
      expect(await as(somebody, "unlockStake", [])).toBe("NotOwner");
      expect(await as(somebody, "withdrawStake", [to])).toBe("NotOwner");
      expect(await as(somebody, "setMarker", [somebody, true])).toBe("NotOwner");
      expect(await as(somebody, "transferOwnership", [somebody])).toBe("NotOwner");
    }
    expect(await as(OWNER, "withdrawTo", [to, parseEther("2")])).toBe("done");
    expect(await as(OWNER, "unlockStake", [])).toBe("done");
    await client.increaseTime({ seconds: UNSTAKE_DELAY_S + 1 });
    await client.mine({ blocks: 1 });
    expect(await as(OWNER, "withdrawStake", [to])).toBe("done");
    expect(await client.getBalance({ address: to })).toBe(parseEther("3"));
    expect(await depositInfo()).toMatchObject({ deposit: STAKE_WEI, staked: false, stake: 0n });
  });

  test("hands the contract over, to somebody who takes it", async () => {
    expect(await as(OWNER, "transferOwnership", [STRANGER])).toBe("done");
    expect(await as(MARKER, "acceptOwnership", [])).toBe("NotPendingOwner");
    expect(await as(STRANGER, "setMarker", [STRANGER, true])).toBe("NotOwner");
    expect(await as(STRANGER, "acceptOwnership", [])).toBe("done");
    expect(await as(OWNER, "setMarker", [OWNER, true])).toBe("NotOwner");
    expect(await as(STRANGER, "setMarker", [STRANGER, true])).toBe("done");
    expect(await as(STRANGER, "acceptOwnership", [])).toBe("NotPendingOwner");
  });
});

test("it is not deployed without an owner, or for an EntryPoint that is not there", async () => {
  await expect(deployPaymaster({ entryPoint: STRANGER })).rejects.toThrow();
  await expect(deployPaymaster({ entryPoint, owner: zeroAddress })).rejects.toThrow();
  await expect(deployPaymaster({ entryPoint })).resolves.toMatch(/^0x/);
});
