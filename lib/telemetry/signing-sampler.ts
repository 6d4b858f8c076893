/** Whether money may be signed for. */
import { gauge, type Sampler } from "./registry";

const FRESH_MS = 1_000;

const off = gauge({
  name: "causeway_signing_off",
  help: "1 while nothing is signed, because the database was restored or another server took over; 0 otherwise",
});

export const signingSampler = ({ state }: { state(): Promise<{ readonly isAllowed: boolean }> }): Sampler => ({
  freshMs: FRESH_MS,
  sample: async () => {
    off.set((await state()).isAllowed ? 0 : 1);
  },
});
