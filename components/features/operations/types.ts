import type { z } from "zod";
import type { operationEvent, operationRecord } from "@/lib/contracts/operation-records";

export type Operation = z.output<typeof operationRecord>;
export type OperationEvent = z.output<typeof operationEvent>;
export type Leg = Operation["legs"][number];
export type ChainNameOf = (chainId: number) => string;
