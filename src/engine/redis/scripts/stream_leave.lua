-- Removes a consumer that holds nothing. ARGV: the consumer.
if not group_info() then return 0 end
if #call('XPENDING', stream, group, '-', '+', 1, ARGV[3]) > 0 then return 0 end
call('XGROUP', 'DELCONSUMER', stream, group, ARGV[3])
return 1
