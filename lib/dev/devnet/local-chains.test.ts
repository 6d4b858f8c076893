import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chainsFile } from "@/lib/platform/config/chains";
import { planDeployments } from "./contracts";
import { localChains } from "./local-chains";
import { LOCAL_SANCTIONS_LIST } from "./sanctions-list";

test("the committed chain file says what is deployed on the local chains", () => {
  const file: unknown = JSON.parse(
    readFileSync(new URL("../../platform/config/chains/local.json", import.meta.url), "utf8"),
  );
  expect(chainsFile.parse(file)).toEqual(localChains());
});

test("the contracts that wallets know by heart are at their canonical addresses", () => {
  for (const { contracts } of localChains().chains) {
    expect(contracts).toMatchObject({
      multicall3: "0xcA11bde05977b3631167028862bE2a173976CA11",
      entryPoint: "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
      permit2: "0x000000000022D473030F116dDEE9F6B43aC78BA3",
      safe: {
        singleton: "0x41675C099F32341bf84BFc5382aF534df5C7461a",
        proxyFactory: "0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67",
        module4337: "0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226",
        moduleSetup: "0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47",
        multiSend: "0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526",
      },
    });
  }
  expect(planDeployments().contracts).toMatchObject({
    signMessageLib: "0xd53cd0aB83D845Ac265BE939c57F53AD838012c9",
    createCall: "0x9b35Af71d77eaf8d7e40252370304687390A1A52",
  });
});

test("the sanctions oracle of the local chains is at the address that npm start names", () => {
  expect(planDeployments().contracts.sanctionsList).toBe(LOCAL_SANCTIONS_LIST);
});
