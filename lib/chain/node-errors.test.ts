import { expect, test } from "vitest";
import { meantCode, RATE_LIMITED, STATE_MISSING } from "./node-errors";

test.each([
  [-32000, "header not found"],
  [-32000, "header for hash not found"],
  [-32000, "unknown block"],
  [-32000, "block not found"],
  [-32001, "block 0x12 not found"],
  [-32000, "missing trie node 3ab1 (path ) state 0x12 is not available"],
  [-32000, "historical state 1f is not available"],
  [-32000, "World state unavailable"],
  [
    -32000,
    "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.",
  ],
  [-32603, "BlockOutOfRangeError: block height is 4 but requested was 9"],
  [-32000, "distance to target block exceeds maximum proof window, state not available"],
  [-32000, "required historical state unavailable (reexec=128)"],
])("%i with %j is a state of the node", (code, message) => {
  expect(meantCode({ code, message })).toBe(STATE_MISSING);
});

test.each([
  [-32005, "limit exceeded"],
  [-32005, "daily request count exceeded, request rate limited"],
  [-32005, "project ID request rate exceeded"],
  [-32016, "rate limited"],
  [-32029, "Too Many Requests"],
  [429, "Your app has exceeded its compute units per second capacity."],
  [-32000, "too many requests, try again later"],
])("%i with %j is a limit of requests", (code, message) => {
  expect(meantCode({ code, message })).toBe(RATE_LIMITED);
});

test.each([
  [-32005, "query returned more than 10000 results"],
  [-32005, "query exceeds max block range"],
  [-32005, "logs matched by query exceed the limit"],
  [3, "execution reverted: header not found"],
  [-32000, "execution reverted: block not found"],
  [-32603, "VM Exception while processing transaction: revert unknown block"],
  [-32000, "nonce too low"],
  [-32000, "already known"],
  [-32000, "insufficient funds for gas * price + value"],
  [-32000, "gas required exceeds allowance (550000000)"],
  [-32000, "replacement transaction underpriced"],
  [-32601, "the method eth_foo does not exist"],
])("%i with %j stays as it is", (code, message) => {
  expect(meantCode({ code, message })).toBe(code);
});
