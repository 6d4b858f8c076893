import { screeningContract } from "../screening.contract";
import { createFakeScreening } from "./screening";

screeningContract("the fake", () => {
  const source = createFakeScreening();
  const address = "0x00000000000000000000000000000000000000aa";
  source.set(address, "hit");
  return Promise.resolve({
    source,
    listed: { address, chainId: 1 },
    clear: { address: "0x00000000000000000000000000000000000000bb", chainId: 1 },
    breakDown: () => {
      source.breakDown();
      return Promise.resolve();
    },
  });
});
