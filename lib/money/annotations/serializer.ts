import type { listAnnotations } from "@/lib/contracts/annotations";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { Annotation } from "./service";

type Body = ResponseOf<typeof listAnnotations>["data"][number];

export const toAnnotation = (annotation: Annotation): Body => ({
  id: annotation.subjectId,
  memo: annotation.memo,
  tags: [...annotation.tags],
  updatedBy: annotation.updatedBy,
  updatedAt: annotation.updatedAt.toISOString(),
});
