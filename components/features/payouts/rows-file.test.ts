import { expect, test } from "vitest";
import { parseRowsFile } from "./rows-file";

test("rows of both kinds are read from the file that the API gives", () => {
  const wallets = [
    "index,address,amount,token,tokenAddress,reference,note,status,batch,transaction,block,failure,failureCode",
    `0,0xAda,12.5,USDC,0xToken,"'=1+1","a, b",paid,0,0xHash,7,,`,
    "1,0xBob,1,ETH,native,,,failed,3,,,The recipient refused it.,reverted",
    "2,0xEve,1,ETH,native,,,failed,4,,,The other one may have paid it.,source_replaced",
    "",
  ].join("\r\n");
  expect(parseRowsFile(wallets)).toEqual([
    {
      ...{
        index: 0,
        recipient: "0xAda",
        amount: "12.5",
        unit: "USDC",
        token: "0xToken",
        reference: "=1+1",
      },
      ...{ note: "a, b", state: "paid", batch: 0, transaction: "0xHash", failure: "" },
    },
    {
      ...{
        index: 1,
        recipient: "0xBob",
        amount: "1",
        unit: "ETH",
        token: "native",
        reference: "",
        note: "",
      },
      ...{ state: "failed", batch: 3, transaction: "", failure: "The recipient refused it." },
    },
    {
      ...{
        index: 2,
        recipient: "0xEve",
        amount: "1",
        unit: "ETH",
        token: "native",
        reference: "",
        note: "",
      },
      ...{
        state: "doubt",
        batch: 4,
        transaction: "",
        failure: "The other one may have paid it.",
      },
    },
  ]);
  const accounts =
    "index,recipientAccountId,amount,currency,reference,status,transaction,failure\r\n0,ga_1,5,USDC,May,pending,,\r\n";
  expect(parseRowsFile(accounts)).toMatchObject([
    {
      recipient: "ga_1",
      unit: "USDC",
      token: "",
      reference: "May",
      state: "queued",
      batch: null,
    },
  ]);
});
