import { expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import { chainTerm, readSearch, searchTermsOf } from "./search";

const token = (chainId: number, symbol: string): Token => ({
  symbol,
  name: symbol,
  chainId,
  address: "native",
  decimals: 18,
  assetId: symbol,
  usdPegged: false,
});
const OWNER = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const RECIPIENT = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";

test("an operation is found by everything that it touches, in any case, each term once", () => {
  const terms = searchTermsOf(
    {
      sources: [1, 1, 2].map((chainId) => ({
        owner: OWNER,
        token: token(chainId, "ETH"),
        amountBase: 1n,
      })),
      destination: { token: token(2, "USDC"), recipient: RECIPIENT },
      slippageBps: 0,
    },
    [{ id: "wal_1" }],
    ["qt_1", null],
  );
  const wanted = ["token:eth", "token:usdc", chainTerm(1), chainTerm(2), "wal_1", "qt_1"];
  expect(terms.toSorted()).toEqual(
    [OWNER.toLowerCase(), RECIPIENT.toLowerCase(), ...wanted].toSorted(),
  );
});

test.each([
  ["op_01A", { by: "id", id: "op_01a" }],
  [` ${OWNER} `, { by: "term", term: OWNER.toLowerCase() }],
  [`0x${"AB".repeat(32)}`, { by: "hash", hash: `0x${"ab".repeat(32)}` }],
  ["tr_01", { by: "term", term: "tr_01" }],
  ["usdc", { by: "term", term: "token:usdc" }],
  // Text that is not a complete address or hash is searched as a name. Internal terms with a prefix
  // cannot be searched.
  ["0x12", { by: "term", term: "token:0x12" }],
  ["chain:1", { by: "term", term: "token:chain:1" }],
])("%j is read as what it looks like", (text, search) => {
  expect(readSearch(text)).toEqual(search);
});
