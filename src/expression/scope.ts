// What an expression may read when it is evaluated.
import type { JsonObject, JsonValue } from '../core/json.js';

export interface EvaluationScope {
  params: JsonObject;
  /** Environment variables by name; one that is not set is absent. */
  env: { [name: string]: string };
  secrets: { [name: string]: string };
  session: { id: string; status?: string };
  plan: { name: string };
  /** What is known of a step; undefined when the scope does not have it. Values are absent while it has not completed. */
  step(id: string): { status: string; outputs?: JsonObject; result?: JsonValue } | undefined;
}
