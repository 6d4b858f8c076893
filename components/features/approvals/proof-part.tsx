"use client";

import dynamic from "next/dynamic";
import { LoadingRows } from "@/components/ui/states";

/**
 * Shown while the component for a proof loads. The component is loaded when a review opens, because
 * its forms and their checks are a fifth of the scripts of a page, and most visits approve nothing.
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
