<?php
// Receives messages by webhook and replies to each: php -S 127.0.0.1:4000 reply.php
// Sets the webhook and sends a text: php reply.php

function setting(string $name, string $default = ''): string
{
    return getenv($name) ?: $default;
}

function call(string $path, array $body, array $headers = []): array
{
    $request = curl_init(setting('GATEWAY', 'http://127.0.0.1:3000') . $path);
    curl_setopt_array($request, [
        CURLOPT_POST => true,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_TIMEOUT => 30,
        CURLOPT_HTTPHEADER => ['content-type: application/json', 'token: ' . setting('TOKEN'), ...$headers],
        CURLOPT_POSTFIELDS => json_encode($body),
    ]);
    $answer = curl_exec($request);
    $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
    if ($answer === false || $status >= 400) {
        throw new RuntimeException("$path answered $status: $answer");
    }
    return json_decode($answer, true);
}

if (PHP_SAPI === 'cli') {
    // Without fromMeYes the program would answer its own replies.
    $hook = setting('HOOK', 'http://127.0.0.1:' . setting('RECEIVER_PORT', '4000') . '/');
    call('/webhook', ['url' => $hook, 'enabled' => true, 'events' => ['messages'], 'excludeMessages' => ['fromMeYes']]);
    call('/send/text', ['number' => setting('TO'), 'text' => 'Hello from PHP']);
    exit;
}

// An exception becomes a 500, which makes the gateway deliver the event again.
$event = json_decode(file_get_contents('php://input'), true);
if ($event['EventType'] === 'messages' && $event['message']['text'] !== '') {
    $message = $event['message'];
    // The gateway may deliver an event twice. With the same key it sends the reply only once.
    $key = ['idempotency-key: ' . $_SERVER['HTTP_WEBHOOK_ID']];
    call('/send/text', ['number' => $message['chatid'], 'text' => 'You wrote: ' . $message['text']], $key);
}
