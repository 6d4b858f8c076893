import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { EvaluationPage } from "@/components/features/policies/evaluation-card";

export const metadata: Metadata = { title: "Decision of the policies" };

export default recordPage((id) => <EvaluationPage id={id} />);
