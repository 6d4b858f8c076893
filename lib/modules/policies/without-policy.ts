/** Remembers which projects have no policy, so that their movements cost no statement more. */
import { LRUCache } from "lru-cache";
import type { SqlReader } from "@/lib/db/sql";
import { hasPolicies } from "./repository";

const PROJECTS_MAX = 10_000;
const KEPT_MS = 10_000;

export interface WithoutPolicy {
  /** Whether the project had no policy a moment ago. Whoever moves money on the answer must check it where the movement is stored. */
  has(projectId: string): Promise<boolean>;
  forget(projectId: string): void;
}

export const createWithoutPolicy = (reader: SqlReader): WithoutPolicy => {
  const known = new LRUCache<string, true>({ max: PROJECTS_MAX, ttl: KEPT_MS });
  return {
    has: async (projectId) => {
      if (known.has(projectId)) return true;
      if (await hasPolicies(reader, projectId)) return false;
      known.set(projectId, true);
      return true;
    },
    forget: (projectId) => void known.delete(projectId),
  };
};
