"use client";

import dynamic from "next/dynamic";
import { LoadingRows } from "@/components/ui/states";

/**
 * The component for a proof is loaded when a review opens. Its forms and their checks are a fifth
 * of the scripts of a page, and most visits approve nothing.
 */
const loading = () => <LoadingRows rows={2} what="the ways to approve" />;

export const ProofPart = dynamic(
  () => import("./proof-body").then((module) => module.ProofPart),
  { ssr: false, loading },
);

export const RequestedProof = dynamic(
  () => import("./proof-body").then((module) => module.RequestedProof),
  { ssr: false, loading },
);
